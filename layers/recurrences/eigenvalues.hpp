#pragma once
/// Eigenvalues of diagonal systems: initialization and discretization.

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Complex parameters on the tape. Both parts have one shape and broadcast.
struct ComplexPair {
  Var re, im;
};

inline ComplexPair operator*(const ComplexPair& a, const ComplexPair& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline ComplexPair operator/(const ComplexPair& a, const ComplexPair& b) {
  const Var square_of_b = square(b.re) + square(b.im);
  return {(a.re * b.re + a.im * b.im) / square_of_b, (a.im * b.re - a.re * b.im) / square_of_b};
}
inline ComplexPair operator*(const ComplexPair& a, const Var& factor) {
  return {a.re * factor, a.im * factor};
}
inline ComplexPair operator+(const ComplexPair& a, double b) { return {a.re + b, a.im}; }
inline ComplexPair exponential(const ComplexPair& a) {
  const Var size = exp(a.re);
  return {size * cos(a.im), size * sin(a.im)};
}
/// Concatenates [re | im] along the last axis. (.., n) -> (.., 2n)
inline Var concat_parts(const ComplexPair& a) { return concat({a.re, a.im}, -1); }
/// Stacks real and imaginary parts. (N, D) -> (2, N, D)
inline Var stack_parts(const ComplexPair& a) {
  const Shape shape{1, a.re.dim(0), a.re.dim(1)};
  return concat({reshape(a.re, shape), reshape(a.im, shape)}, 0);
}
/// Inverts concat_parts().
inline ComplexPair split_parts(const Var& x) {
  const std::size_t n = x.dim(-1) / 2;
  return {slice(x, -1, 0, n), slice(x, -1, n, 2 * n)};
}

/// Factors of the state, |decay| < 1 for all parameters, and of the inputs, per token.
struct Discrete {
  ComplexPair decay, gain;
};

class EigenvalueParameters : public Module {
 public:
  /// Discretizes with unit steps, or per token with steps times `gap` (B, T, 1).
  virtual Discrete discrete(Tape& tape, const Var& gap = {}) = 0;
  virtual bool takes_gaps() const = 0;
};

struct Eigenvalues {
  std::vector<double> re, im;
};
/// Returns the eigenvalues -1/2 + i mu of the normal part of HiPPO-LegS with 2n states, positive
/// imaginary parts ascending. Gu et al., "HiPPO", 2020; Gupta et al., "DSS", 2022.
Eigenvalues hippo_eigenvalues(std::size_t n);
/// Returns n initial eigenvalues: "legs", "lin" or "inv". Gu et al., "S4D", 2022.
Eigenvalues initial_eigenvalues(const std::string& start, std::size_t n);

/// One step of a diagonal system.
struct Steps {
  ComplexPair z;  ///< step times eigenvalue, real parts in [-50, -1e-6]
  Var step;
  /// Returns the gain under a zero-order hold: (e^z - 1) / eigenvalue.
  ComplexPair zoh_gain() const;
};
/// Returns steps e^log_step of eigenvalues -e^log_rate + i frequency. log_rate and frequency have
/// one shape, to which log_step broadcasts.
Steps steps_of(const Var& log_rate, const Var& frequency, const Var& log_step);

/// Eigenvalues -e^log_rate + i frequency of a continuous system, in steps e^log_step, initially
/// log-uniform. The decay is e^z (zero-order hold) or (1 + z/2) / (1 - z/2) (bilinear), z = step
/// eigenvalue, with Re z clamped to [-50, -1e-6].
class ContinuousEigenvalues : public EigenvalueParameters {
 public:
  /// Takes `eigenvalues` of `shape`, with a step per element of the last axis.
  ContinuousEigenvalues(const SsmSpec& spec, const Eigenvalues& eigenvalues, const Shape& shape);
  Discrete discrete(Tape& tape, const Var& gap) override;
  bool takes_gaps() const override { return true; }
  void visit(Visitor& visitor) override {
    visitor("log_rate", log_rate_);
    visitor("frequencies", frequencies_);
    visitor("log_step", log_step_);
  }
  void initialized() override {
    for (real& x : log_step_.value())
      x = real(log_step_min_ + (log_step_max_ - log_step_min_) * (double(x) + 1) / 2);
  }

 private:
  bool bilinear_;
  double log_step_min_, log_step_max_;
  Parameter log_rate_, frequencies_, log_step_;
};

/// Eigenvalues exp(-e^log_rate + i e^log_phase), initially uniform on a ring; inputs are scaled by
/// e^log_gain, initially sqrt(1 - |decay|^2). Orvieto et al., "LRU", 2023.
class RingEigenvalues : public EigenvalueParameters {
 public:
  RingEigenvalues(const SsmSpec& spec, std::size_t states);
  Discrete discrete(Tape& tape, const Var& gap) override;
  bool takes_gaps() const override { return false; }
  void visit(Visitor& visitor) override {
    visitor("log_rate", log_rate_);
    visitor("log_phase", log_phase_);
    visitor("log_gain", log_gain_);
  }
  void initialized() override;

 private:
  double radius_min_, radius_max_, phase_;
  Parameter log_rate_, log_phase_, log_gain_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

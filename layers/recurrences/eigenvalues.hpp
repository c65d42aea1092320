#pragma once
/// Eigenvalues of diagonal systems: how they start, and what they are for one token.

#include <bochner/layers/module.hpp>
#include <bochner/layers/recurrences/complex_pair.hpp>
#include <bochner/layers/recurrences/ssm_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// What a state is multiplied by from token to token, |decay| < 1 whatever is learned, and what its
/// inputs are scaled by.
struct Discrete {
  ComplexPair decay, gain;
};

class Spectrum : public Module {
 public:
  /// Of steps between neighbouring tokens, or of those times `gap` (B, T, 1): then of each token.
  virtual Discrete discrete(Tape& tape, const Var& gap = {}) = 0;
  virtual bool takes_gaps() const = 0;
};

/// Starts of the real and the imaginary parts of eigenvalues.
struct Eigenvalues {
  std::vector<double> re, im;
};
/// Those of the normal part of HiPPO-LegS of 2n states with a positive imaginary part, rising: -1/2
/// + i mu. Gu et al., "HiPPO", 2020; Gupta et al., "DSS", 2022.
Eigenvalues hippo_eigenvalues(std::size_t n);
/// "legs", "lin" or "inv", n of them. Gu et al., "S4D", 2022.
Eigenvalues start_eigenvalues(const std::string& start, std::size_t n);

/// A diagonal system a step at a time.
struct Steps {
  ComplexPair z;  ///< step times eigenvalue, real parts in [-50, -1e-6]
  Var step;
  /// Of inputs that are held from token to token: (e^z - 1) / eigenvalue.
  ComplexPair held_gain() const;
};
/// Eigenvalues -e^log_rate + i frequency in steps e^log_step. The first two have one shape, to
/// which the third broadcasts.
Steps steps_of(const Var& log_rate, const Var& frequency, const Var& log_step);

/// Eigenvalues -e^log_rate + i frequency of a continuous system, in steps e^log_step that start
/// log-uniformly: decay e^z (zero-order hold) or (1 + z/2) / (1 - z/2) (bilinear), z = step
/// eigenvalue. Real parts of z are held in [-50, -1e-6].
class SteppedSpectrum : public Spectrum {
 public:
  /// `eigenvalues` of shape, steps along its last axis.
  SteppedSpectrum(const SsmSpec& spec, const Eigenvalues& eigenvalues, const Shape& shape);
  Discrete discrete(Tape& tape, const Var& gap) override;
  bool takes_gaps() const override { return true; }
  void visit(Visitor& visitor) override;
  void initialized() override;

 private:
  bool bilinear_;
  double log_step_min_, log_step_max_;
  Parameter log_rate_, frequencies_, log_step_;
};

/// exp(-e^log_rate + i e^log_phase), uniform on a ring at the start, inputs scaled by e^log_gain,
/// sqrt(1 - |decay|^2) at the start. Orvieto et al., "LRU", 2023.
class RingSpectrum : public Spectrum {
 public:
  RingSpectrum(const SsmSpec& spec, std::size_t states);
  Discrete discrete(Tape& tape, const Var& gap) override;
  bool takes_gaps() const override { return false; }
  void visit(Visitor& visitor) override;
  void initialized() override;

 private:
  double radius_min_, radius_max_, phase_;
  Parameter log_rate_, log_phase_, log_gain_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

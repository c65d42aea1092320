#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/layers/recurrences/diagonal_system.hpp>
#include <bochner/layers/recurrences/eigenvalues.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Decays and weights of the states per channel, see state_space().
struct ChannelWeights {
  Var a, w;
};

class ChannelStates : public DiagonalSystem {
 public:
  ChannelStates(const std::string& form, const Shape& states, bool causal)
      : form_(form), states_(states), causal_(causal) {}

  Var forward(Tape& tape, const Var& u, const Layout& layout) override {
    require_steps(layout.regular());
    const Var past = in_direction(tape, u, false, layout);
    return causal_ ? past : past + in_direction(tape, u, true, layout);
  }

  Tensor start(std::size_t B) const override {
    Shape all = states_;
    all.back() *= B;
    return zeros(all);
  }

  Tensor response(std::size_t count) override {
    Tape tape({.recording = false});
    const std::size_t D = states_.back();
    Tensor impulse = zeros({1, count, D});
    std::fill_n(impulse.data(), D, real(1));
    Tensor h = in_direction(tape, tape.constant(std::move(impulse)), false, {}).value();
    return h.reshape(Shape{count, D});
  }

  Var step(Tape& tape, const Var& u, Tensor& states, double gap) override {
    require_steps(gap == 1);
    const ChannelWeights kernel = weights(tape, false);
    const Tensor a = tiled(u.dim(0), kernel.a).value(), w = tiled(u.dim(0), kernel.w).value();
    Tensor y = state_space_step(states, u.value(), a, w);
    return tape.constant(Tensor(y.reshape(u.shape())));
  }

 protected:
  virtual ChannelWeights weights(Tape& tape, bool reverse) = 0;

 private:
  Var in_direction(Tape& tape, const Var& u, bool reverse, const Layout& layout) {
    const ChannelWeights kernel = weights(tape, reverse);
    return state_space(u, kernel.a, kernel.w, {reverse, layout.lengths});
  }
  void require_steps(bool regular) const {
    require(regular, "ssm", "form \"", form_,
            "\" requires tokens at equal distances; use s5 for irregular times");
  }

  std::string form_;
  Shape states_;
  bool causal_;
};

/// S4D and DSS: y = factor Re sum_n C_n h_n, with C per direction. Gu et al., "On the
/// parameterization and initialization of diagonal state space models", 2022; Gupta et al.,
/// "Diagonal state spaces are as effective as structured state spaces", 2022 (its exp form, which
/// is its softmax form without a length).
class ContinuousStates : public ChannelStates {
 public:
  ContinuousStates(const SsmSpec& spec, std::size_t N, std::size_t width, bool causal)
      : ChannelStates(spec.form, {2, N, width}, causal),
        factor_(spec.form == "s4d" ? 2 : 1),
        spectrum_(spec, of_channels(spec, N, width), {N, width}) {
    const double deviation = spec.form == "s4d" ? std::sqrt(0.5) : 1;  // real and imaginary part
    for (int direction = 0; direction < (causal ? 1 : 2); ++direction)
      output_[direction] = Parameter({2, N, width}, Initial::normal(deviation));
  }

  void visit(Visitor& visitor) override {
    visitor("spectrum", spectrum_);
    visitor("output", output_[0]);
    if (output_[1].value().size() > 1) visitor("reverse_output", output_[1]);
  }

 protected:
  ChannelWeights weights(Tape& tape, bool reverse) override {
    const Discrete system = spectrum_.discrete(tape, {});
    const Var c = tape(output_[reverse]);
    const Shape part{c.dim(1), c.dim(2)};
    const ComplexPair output = {reshape(slice(c, 0, 0, 1), part), reshape(slice(c, 0, 1, 2), part)};
    return {stack_parts(system.decay), factor_ * stack_parts(output * system.gain)};
  }

 private:
  static Eigenvalues of_channels(const SsmSpec& spec, std::size_t N, std::size_t width) {
    const Eigenvalues one =
        spec.form == "s4d" ? initial_eigenvalues(spec.start, N) : hippo_eigenvalues(N);
    Eigenvalues all;
    for (std::size_t i = 0; i < N * width; ++i) {
      all.re.push_back(one.re[i / width]);
      all.im.push_back(one.im[i / width]);
    }
    return all;
  }

  double factor_;
  ContinuousEigenvalues spectrum_;
  Parameter output_[2];
};

/// Damped average k_t = sum_n p beta gamma q^t / sqrt(N), p = sigmoid(delta), q = 1 - p
/// sigmoid(alpha).
class DampedAverage : public Module {
 public:
  DampedAverage(std::size_t N, std::size_t width)
      : delta_({N, width}, Initial::normal(0.2)),
        alpha_({N, width}, Initial::normal(0.2)),
        beta_({N, width}, Initial::normal(0.02)),
        gamma_({N, width}, Initial::normal(1)) {}

  ChannelWeights weights(Tape& tape) {
    const Var p = sigmoid(tape(delta_)), lost = clamp(p * sigmoid(tape(alpha_)), real(1e-6), 1);
    const double N = double(p.dim(0));
    return {1 - lost, p * tape(beta_) * tape(gamma_) / std::sqrt(N)};
  }

  void visit(Visitor& visitor) override {
    visitor("spectrum.delta", delta_);
    visitor("spectrum.alpha", alpha_);
    visitor("beta", beta_);
    visitor("gamma", gamma_);
  }

  void initialized() override {
    Tensor& beta = beta_.value();
    const std::size_t D = beta.shape()[1];
    for (std::size_t i = 0; i < beta.size(); ++i) beta.data()[i] += i / D % 2 == 0 ? 1 : -1;
  }

 private:
  Parameter delta_, alpha_, beta_, gamma_;  // (N, D)
};

/// Multi-dimensional damped moving average of Ma et al., "MEGA", 2023.
class DampedAverages : public ChannelStates {
 public:
  DampedAverages(std::size_t N, std::size_t width, bool causal)
      : ChannelStates("ema", {N, width}, causal) {
    for (int direction = 0; direction < (causal ? 1 : 2); ++direction)
      directions_.push_back(std::make_unique<DampedAverage>(N, width));
  }
  void visit(Visitor& visitor) override { visitor("directions", directions_); }

 protected:
  ChannelWeights weights(Tape& tape, bool reverse) override {
    return directions_[reverse]->weights(tape);
  }

 private:
  std::vector<std::unique_ptr<DampedAverage>> directions_;
};

}  // namespace

std::unique_ptr<DiagonalSystem> make_channel_states(const SsmSpec& spec, std::size_t width,
                                                    bool causal) {
  const std::size_t published = spec.form == "s4d" ? 32 : spec.form == "dss" ? 64 : 16;
  const std::size_t N = spec.states > 0 ? spec.states : published;
  if (spec.form == "ema") return std::make_unique<DampedAverages>(N, width, causal);
  return std::make_unique<ContinuousStates>(spec, N, width, causal);
}

}  // namespace bochner::inline BOCHNER_PRECISION

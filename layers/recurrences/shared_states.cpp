#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/layers/recurrences/diagonal_system.hpp>
#include <bochner/layers/recurrences/eigenvalues.hpp>
#include <cmath>
#include <complex>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Sets the first gap to 1, as the last one is in reverse: inputs last as long as their gaps, and
/// no token precedes the first. (B, T) -> (B, T)
Tensor with_first_gap(Tensor gaps) {
  for (std::size_t i = 0; i < gaps.size(); i += gaps.shape()[1]) gaps.data()[i] = 1;
  return gaps;
}

/// P complex states between dense matrices: h_t = decay h_(t-1) + gain B u, y = factor Re(C h),
/// with C per direction. Smith et al., "S5", 2023; Orvieto et al., "LRU", 2023.
class SharedStates : public DiagonalSystem {
 public:
  SharedStates(std::unique_ptr<EigenvalueParameters> spectrum, std::size_t P, std::size_t width,
               bool causal, double factor, const Initial& input, const Initial& output)
      : factor_(factor),
        causal_(causal),
        spectrum_(std::move(spectrum)),
        input_({width, 2 * P}, input),
        output_({2 * P, width}, output) {
    if (!causal) reverse_output_ = Parameter({2 * P, width}, output);
  }

  Var forward(Tape& tape, const Var& u, const Layout& layout) override {
    require_gaps(layout.regular());
    const ScanOptions past{false, layout.lengths}, future{true, layout.lengths};
    if (layout.regular()) {
      const ScanInputs inputs = regular(tape, u);
      const Var y = read(tape, output_, complex_scan(inputs.a, inputs.x, {}, past));
      if (causal_) return y;
      return y + read(tape, reverse_output_, complex_scan(inputs.a, inputs.x, {}, future));
    }
    const Var x = matmul(u, tape(input_));
    const ScanInputs forth = irregular(tape, x, with_first_gap(layout.gaps));
    const Var y = read(tape, output_, complex_scan(forth.a, forth.x, {}, past));
    if (causal_) return y;
    const ScanInputs back = irregular(tape, x, reversed_layout(layout).gaps);
    return y + read(tape, reverse_output_, complex_scan(back.a, back.x, {}, future));
  }

  Tensor start(std::size_t B) const override { return zeros({B, input_.shape()[1]}); }

  /// Returns Re(gain decay^lag).
  Tensor response(std::size_t count) override {
    Tape tape({.recording = false});
    const auto [decay, gain] = spectrum_->discrete(tape);
    const std::size_t P = decay.re.dim(-1);
    Tensor h = uninitialized({count, P});
    for (std::size_t p = 0; p < P; ++p) {
      const std::complex<double> a(decay.re.data()[p], decay.im.data()[p]);
      std::complex<double> state(gain.re.data()[p], gain.im.data()[p]);
      for (std::size_t lag = 0; lag < count; ++lag, state *= a) h(lag, p) = real(state.real());
    }
    return h;
  }

  Var step(Tape& tape, const Var& u, Tensor& states, double gap) override {
    require_gaps(gap == 1);
    const ScanInputs inputs =
        gap == 1 ? regular(tape, u)
                 : irregular(tape, matmul(u, tape(input_)), filled({u.dim(0), 1}, real(gap)));
    const Var h = complex_scan(inputs.a, inputs.x, tape.view(states));
    const Var y = read(tape, output_, h);
    std::copy_n(h.data(), states.size(), states.data());
    return y;
  }

  void visit(Visitor& visitor) override {
    visitor("spectrum", *spectrum_);
    visitor("input", input_);
    visitor("output", output_);
    if (!causal_) visitor("reverse_output", reverse_output_);
  }

 private:
  struct ScanInputs {
    Var a, x;
  };
  ScanInputs regular(Tape& tape, const Var& u) {
    const Discrete system = spectrum_->discrete(tape);
    return {concat_parts(system.decay),
            matmul(u, concat_parts(split_parts(tape(input_)) * system.gain))};
  }
  /// Scales inputs x = B u (B, T, 2P) by gaps (B, T).
  ScanInputs irregular(Tape& tape, const Var& x, const Tensor& gaps) {
    const Shape& shape = gaps.shape();
    const Var gap = reshape(tape.constant(gaps), {shape[0], shape[1], 1});
    const Discrete system = spectrum_->discrete(tape, gap);
    return {concat_parts(system.decay), concat_parts(split_parts(x) * system.gain)};
  }
  Var read(Tape& tape, Parameter& output, const Var& h) const {
    return matmul(h, factor_ * tape(output));
  }
  void require_gaps(bool equal) const {
    require(equal || spectrum_->takes_gaps(), "ssm",
            "form \"lru\" requires tokens at equal distances; use s5 for irregular times");
  }

  double factor_;
  bool causal_;
  std::unique_ptr<EigenvalueParameters> spectrum_;
  Parameter input_, output_, reverse_output_;  // [re | im] of P states, im of outputs negated
};

/// Initializes B = V^-1 B0, C = C0 V for HiPPO's unitary eigenvectors V: complex normal.
std::unique_ptr<DiagonalSystem> make_s5(const SsmSpec& spec, std::size_t width, bool causal) {
  const std::size_t published = std::max(spec.blocks, width / 2 / spec.blocks * spec.blocks);
  const std::size_t P = spec.states > 0 ? spec.states : published;
  require(P % spec.blocks == 0, "ssm", "blocks = ", spec.blocks, " must divide states = ", P);
  const Eigenvalues block = hippo_eigenvalues(P / spec.blocks);
  Eigenvalues all;
  for (std::size_t i = 0; i < P; ++i) {
    all.re.push_back(block.re[i % block.re.size()]);
    all.im.push_back(block.im[i % block.im.size()]);
  }
  const double full = 2 * double(P);  // states with their conjugates
  return std::make_unique<SharedStates>(
      std::make_unique<ContinuousEigenvalues>(spec, all, Shape{P}), P, width, causal, 2,
      Initial::normal(std::sqrt(0.5 / full)), Initial::normal(std::sqrt(1 / full)));
}

std::unique_ptr<DiagonalSystem> make_lru(const SsmSpec& spec, std::size_t width, bool causal) {
  const std::size_t P = spec.states > 0 ? spec.states : width;
  return std::make_unique<SharedStates>(std::make_unique<RingEigenvalues>(spec, P), P, width,
                                        causal, 1, Initial::normal(std::sqrt(0.5 / double(width))),
                                        Initial::normal(std::sqrt(1 / double(P))));
}

}  // namespace

std::unique_ptr<DiagonalSystem> make_shared_states(const SsmSpec& spec, std::size_t width,
                                                   bool causal) {
  return spec.form == "s5" ? make_s5(spec, width, causal) : make_lru(spec, width, causal);
}

}  // namespace bochner::inline BOCHNER_PRECISION

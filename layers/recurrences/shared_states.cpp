#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/layers/recurrences/diagonal_system.hpp>
#include <bochner/layers/recurrences/eigenvalues.hpp>
#include <cmath>
#include <complex>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Inputs hold for as long as their gaps: the first token, with none before it, for 1 as the last
/// one does in reverse. (B, T) -> (B, T)
Tensor with_a_first_gap(Tensor gaps) {
  for (std::size_t i = 0; i < gaps.size(); i += gaps.shape()[1]) gaps.data()[i] = 1;
  return gaps;
}

/// P complex states between dense matrices: h_t = decay h_(t-1) + gain B u, y = factor Re(C h), C
/// of each direction. Smith et al., "S5", 2023; Orvieto et al., "LRU", 2023.
class SharedStates : public DiagonalSystem {
 public:
  SharedStates(std::unique_ptr<Spectrum> spectrum, std::size_t P, std::size_t width, bool causal,
               double factor, const Initial& input, const Initial& output)
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
      const Driven driven = regular(tape, u);
      const Var y = read(tape, output_, complex_scan(driven.a, driven.x, {}, past));
      if (causal_) return y;
      return y + read(tape, reverse_output_, complex_scan(driven.a, driven.x, {}, future));
    }
    const Var x = matmul(u, tape(input_));
    const Driven forth = in_gaps(tape, x, with_a_first_gap(layout.gaps));
    const Var y = read(tape, output_, complex_scan(forth.a, forth.x, {}, past));
    if (causal_) return y;
    const Driven back = in_gaps(tape, x, reversed_layout(layout).gaps);
    return y + read(tape, reverse_output_, complex_scan(back.a, back.x, {}, future));
  }

  Tensor start(std::size_t B) const override { return zeros({B, input_.shape()[1]}); }

  /// Re(gain decay^lag)
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
    const Driven driven =
        gap == 1 ? regular(tape, u)
                 : in_gaps(tape, matmul(u, tape(input_)), filled({u.dim(0), 1}, real(gap)));
    const Var h = complex_scan(driven.a, driven.x, tape.view(states));
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
  /// Decays and what comes in at each token.
  struct Driven {
    Var a, x;
  };
  Driven regular(Tape& tape, const Var& u) {
    const Discrete of = spectrum_->discrete(tape);
    return {side_by_side(of.decay), matmul(u, side_by_side(halves(tape(input_)) * of.gain))};
  }
  /// x = B u (B, T, 2P), gaps (B, T)
  Driven in_gaps(Tape& tape, const Var& x, const Tensor& gaps) {
    const Shape& shape = gaps.shape();
    const Var gap = reshape(tape.constant(gaps), {shape[0], shape[1], 1});
    const Discrete of = spectrum_->discrete(tape, gap);
    return {side_by_side(of.decay), side_by_side(halves(x) * of.gain)};
  }
  Var read(Tape& tape, Parameter& output, const Var& h) const {
    return matmul(h, factor_ * tape(output));
  }
  void require_gaps(bool equal) const {
    require(equal || spectrum_->takes_gaps(), "ssm",
            "form \"lru\" needs tokens at equal distances; s5 takes steps of any length");
  }

  double factor_;
  bool causal_;
  std::unique_ptr<Spectrum> spectrum_;
  Parameter input_, output_, reverse_output_;  // [re | im] of P states, im of outputs negated
};

/// Starts with B = V^-1 B0 and C = C0 V for the eigenvectors V of HiPPO and normal B0 and C0: as V
/// is unitary, these are complex normal themselves.
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
  const double full = 2 * double(P);  // states with their conjugates, which inputs and outputs see
  return std::make_unique<SharedStates>(std::make_unique<SteppedSpectrum>(spec, all, Shape{P}), P,
                                        width, causal, 2, Initial::normal(std::sqrt(0.5 / full)),
                                        Initial::normal(std::sqrt(1 / full)));
}

std::unique_ptr<DiagonalSystem> make_lru(const SsmSpec& spec, std::size_t width, bool causal) {
  const std::size_t P = spec.states > 0 ? spec.states : width;
  return std::make_unique<SharedStates>(std::make_unique<RingSpectrum>(spec, P), P, width, causal,
                                        1, Initial::normal(std::sqrt(0.5 / double(width))),
                                        Initial::normal(std::sqrt(1 / double(P))));
}

}  // namespace

std::unique_ptr<DiagonalSystem> make_shared_states(const SsmSpec& spec, std::size_t width,
                                                   bool causal) {
  return spec.form == "s5" ? make_s5(spec, width, causal) : make_lru(spec, width, causal);
}

}  // namespace bochner::inline BOCHNER_PRECISION

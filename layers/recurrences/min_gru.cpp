#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Computes h_t = (1 - z) h_(t-1) + z g, with gates and candidates of the token itself.
class MinGruDirection : public Module {
 public:
  MinGruDirection(const MinGruSpec& spec, std::size_t width, std::size_t hidden)
      : positive_(spec.candidate == "positive"), gate_(width, hidden), candidate_(width, hidden) {}

  /// Runs one direction. (B, T, D) -> (B, T, n)
  Var forward(Tape& tape, const Var& x, const Var& start, const ScanOptions& options) {
    const Var gate = gate_.forward(tape, x), candidate = candidate_.forward(tape, x);
    const Var g =
        positive_ ? relu(candidate) + sigmoid(minimum(candidate, Var(zeros({})))) : candidate;
    return diagonal_scan(sigmoid(-gate), sigmoid(gate) * g, start, options);
  }

  void visit(Visitor& visitor) override {
    visitor("gate", gate_);
    visitor("candidate", candidate_);
  }

 private:
  bool positive_;
  Linear gate_, candidate_;
};

/// Minimal GRU. Feng et al., "Were RNNs all we needed?", 2024. The candidate g(c) = c + 1/2 for c
/// >= 0, else sigmoid(c), is that of its scan in log space; states start at zero.
class MinGruMixer : public Mixer {
 public:
  MinGruMixer(const MixerSpec& spec, const MinGruSpec& own)
      : causal_(spec.causal),
        hidden_(std::size_t(double(spec.width) * own.expansion + 0.5)),
        convolution_(spec.convolution, spec.width),
        output_(hidden_, spec.width) {
    require_traits(spec);
    require(own.candidate == "positive" || own.candidate == "linear", "min_gru",
            "no candidate is called \"", own.candidate, "\"; there are: positive, linear");
    require(hidden_ > 0, "min_gru", "expansion = ", own.expansion, " gives no states");
    for (int direction = 0; direction < (causal_ ? 1 : 2); ++direction)
      directions_.push_back(std::make_unique<MinGruDirection>(own, spec.width, hidden_));
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_equal_distances(layout.regular(), "min_gru");
    const Var u = convolution_.forward(tape, x);
    Var h = directions_[0]->forward(tape, u, {}, {false, layout.lengths});
    if (!causal_) h = h + directions_[1]->forward(tape, u, {}, {true, layout.lengths});
    return output_.forward(tape, h);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<TensorState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "min_gru");
    require_equal_distances(state.gap == 1, "min_gru");
    auto& past = static_cast<TensorState&>(state);
    ++past.position;
    past.recent.resize(1);
    if (past.values.dimension() == 0) past.values = zeros({x.dim(0), hidden_});
    const Var u = convolution_.step(tape, x, past.recent[0]);
    const Var h = directions_[0]->forward(tape, u, tape.constant(past.values), {});
    std::copy_n(h.data(), past.values.size(), past.values.data());
    return output_.forward(tape, h);
  }

  void visit(Visitor& visitor) override {
    visitor("convolution", convolution_);
    visitor("directions", directions_);
    visitor("output", output_);
  }

 private:
  bool causal_;
  std::size_t hidden_;
  ShortConvolution convolution_;
  std::vector<std::unique_ptr<MinGruDirection>> directions_;
  Linear output_;
};

}  // namespace

void add_min_gru(Mixers& all) {
  all.add("min_gru", make<MinGruMixer, MinGruSpec>,
          {.convolution = true, .carries = true, .features = false});
}

}  // namespace bochner::inline BOCHNER_PRECISION

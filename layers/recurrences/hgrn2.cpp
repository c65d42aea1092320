#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <bochner/layers/recurrences/lower_bounds.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Gated linear attention with keys 1 - lambda: f = sigmoid, i = silu, o = sigmoid of linear maps
/// of x; lambda = g + (1 - g) f with the block's lower bound g; S <- diag(lambda) S + (1 - lambda)
/// i^T, y = S^T o per head; then a layer norm and a linear map. Non-causal models sum both
/// directions and count a token once (twice in the authors' code). Qin et al., "HGRN2", 2024.
class Hgrn2Mixer : public Mixer {
 public:
  explicit Hgrn2Mixer(const MixerSpec& spec)
      : causal_(spec.causal),
        heads_(spec.heads),
        chunk_(spec.chunk),
        block_(spec.place.block),
        input_(spec.width, 3 * spec.width),
        norm_(spec.width),
        output_(spec.width, spec.width) {
    require_heads(spec);
    require_traits(spec);
    require(spec.convolution == 0, "hgrn2", "does not support convolution; set it to 0");
    if (block_ > 0 || spec.place.blocks > 1) share_bounds(spec);
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_equal_distances(layout.regular(), "hgrn2");
    const Gated g = gated(tape, x);
    Var y = gated_linear_attention(g.q, g.k, g.v, g.log_decay, {chunk_, layout.lengths});
    if (!causal_)
      y = y +
          gated_linear_attention(g.q, g.k, g.v, g.log_decay, {chunk_, layout.lengths, true, true});
    return outputs(tape, y);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<TensorState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "hgrn2");
    require_equal_distances(state.gap == 1, "hgrn2");
    auto& past = static_cast<TensorState&>(state);
    ++past.position;
    const Gated g = gated(tape, x);
    const std::size_t rows = g.v.dim(0) * g.v.dim(2), d = g.v.dim(3);
    if (past.values.dimension() == 0) past.values = zeros({rows, d, d});
    Tensor y = gated_linear_attention_step(past.values, single_token(g.q), single_token(g.k),
                                           single_token(g.v), single_token(g.log_decay));
    y.reshape(g.v.shape());
    return outputs(tape, tape.constant(std::move(y)));
  }

  void visit(Visitor& visitor) override {
    visitor("input", input_);
    if (owns_bounds_) visitor("lower_bounds", *bounds_);
    visitor("norm", norm_);
    visitor("output", output_);
  }

 private:
  /// Shares the bounds of all blocks, owned by the first such mixer of the stack.
  void share_bounds(const MixerSpec& spec) {
    require(spec.place.shared != nullptr, "hgrn2",
            "blocks share lower bounds: build the stack by BlockStack");
    auto& shared = *spec.place.shared;
    owns_bounds_ = !shared.lower_bounds;
    if (owns_bounds_)
      shared.lower_bounds = std::make_shared<LowerBounds>(spec.place.blocks, spec.width);
    bounds_ = shared.lower_bounds;
  }

  /// (B, T, H, d) each
  struct Gated {
    Var q, k, v, log_decay;
  };
  Gated gated(Tape& tape, const Var& x) {
    const std::size_t D = x.dim(2);
    const Var all = input_.forward(tape, x);
    const auto part = [&](std::size_t i) { return slice(all, 2, i * D, (i + 1) * D); };
    const Shape heads{x.dim(0), x.dim(1), heads_, D / heads_};
    const Var f = part(2), complement = sigmoid(-f);  // 1 - sigmoid(f) without cancellation
    Var k = complement, log_decay = -softplus(-f);
    if (block_ > 0) {
      const Var bound = bounds_->bound(tape, block_), rest = 1 - bound;
      k = rest * complement;
      log_decay = log(bound + rest * sigmoid(f));
    }
    return {reshape(sigmoid(part(1)), heads), reshape(k, heads), reshape(silu(part(0)), heads),
            reshape(log_decay, heads)};
  }
  Var outputs(Tape& tape, const Var& y) {
    return output_.forward(
        tape, norm_.forward(tape, reshape(y, {y.dim(0), y.dim(1), y.dim(2) * y.dim(3)})));
  }

  bool causal_, owns_bounds_ = false;
  std::size_t heads_, chunk_, block_;
  Linear input_;  // i, o, f
  std::shared_ptr<LowerBounds> bounds_;
  LayerNorm norm_;
  Linear output_;
};

}  // namespace

void add_hgrn2(Mixers& all) {
  all.add("hgrn2", make<Hgrn2Mixer>, {.heads = true, .carries = true, .features = false});
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {

Layout reversed_layout(Layout layout) {
  const std::size_t B = layout.gaps.shape()[0], T = layout.gaps.shape()[1];
  const Tensor gaps = std::exchange(layout.gaps, filled({B, T}, real(1)));
  for (std::size_t b = 0; b < B; ++b) {
    const std::size_t length = length_of(layout.lengths, b, T);
    for (std::size_t t = 0; t + 1 < length; ++t) layout.gaps(b, t) = gaps(b, t + 1);
  }
  return layout;
}

Var Mixer::forward_add(Tape& tape, const Var& residual, Normed& x, const Layout& layout) {
  const Var mixed = forward(tape, x.rows(tape), layout);
  require_same_shape(mixed, residual);
  return residual + mixed;
}

NoSteps::NoSteps()
    : std::invalid_argument(
          "[mixer] start() and step() are not implemented: it processes whole sequences only") {}

void require_same_shape(const Var& mixed, const Var& x) {
  require(mixed.shape() == x.shape(), "mixer", "expected output ", x.shape(), ", got ",
          mixed.shape());
}

Var tiled(std::size_t B, const Var& x) {
  if (B == 1) return x;
  Shape one(x.shape().begin(), x.shape().end() - 1), each = one, all = x.shape();
  one.push_back(1), each.push_back(B);
  one.push_back(all.back()), each.push_back(all.back());
  all.back() *= B;
  return reshape(broadcast_to(reshape(x, one), each), all);
}

Var reversed_sequences(const Var& x, const std::vector<std::size_t>& lengths) {
  const std::size_t B = x.dim(0), T = x.dim(1);
  Indices rows{{B, T}, std::vector<std::int32_t>(B * T)};
  for (std::size_t b = 0; b < B; ++b) {
    const std::size_t length = length_of(lengths, b, T);
    for (std::size_t t = 0; t < T; ++t)
      rows.values[b * T + t] = std::int32_t(b * T + (t < length ? length - 1 - t : t));
  }
  return gather(reshape(x, {B * T, x.dim(2)}), rows);
}

void show_attention(const Tape& tape, const Mixer& mixer, const AttentionInputs& inputs) {
  if (auto* observer = dynamic_cast<AttentionObserver*>(tape.observer))
    observer->attended(mixer, inputs);
}

Mixers& mixers() {
  static Mixers registry = [] {
    Mixers all("mixer", {});
    for (const auto add :
         {add_softmax, add_linear, add_log_linear, add_hgrn2, add_ssm, add_min_gru, add_mlstm,
          add_mamba, add_mamba2, add_rwkv7, add_hyena, add_long_conv, add_h3, add_sgconv})
      add(all);
    return std::move(all).built_in();
  }();
  return registry;
}

void require_heads(const MixerSpec& spec) {
  require(spec.heads > 0 && spec.width % spec.heads == 0, "mixer", "heads = ", spec.heads,
          " must divide width = ", spec.width);
}

void require_traits(const MixerSpec& spec) {
  const MixerTraits has = mixers().traits(spec.kind, spec);
  const char* kind = spec.kind.c_str();
  require(has.has_time_kernel(spec.time_kernel.kind), kind,
          "does not support time_kernel; set it to \"none\"");
  require(has.queries || !spec.rotary, kind,
          "does not rotate queries; positions must not be "
          "\"rotary\"");
  require(has.normalize || spec.normalize == "none", kind,
          "does not normalize queries; set normalize to \"none\"");
  require(has.times || spec.time.kind == "none", kind,
          "does not support times in queries and keys; set model.time.use = \"add\" or "
          "\"concatenate\"");
  require(has.window || spec.window == 0, kind, "does not support window; set it to 0");
}

void require_causal_step(bool causal, const std::string& kind) {
  require(causal, kind.c_str(), "step() requires a causal mixer");
}

void require_equal_distances(bool equal, const std::string& kind) {
  require(equal, kind.c_str(),
          "requires tokens at equal distances; use linear or softmax attention, or ssm with form = "
          "\"s5\"");
}

}  // namespace bochner::inline BOCHNER_PRECISION

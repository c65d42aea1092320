#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/attention/kv_cache.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <bochner/layers/mixers/mixers.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct SoftmaxState : MixerState {
  KvCache cache;  ///< all tokens, or those of the window
};

MixerTraits softmax_traits(const MixerSpec& spec) {
  return {.heads = true,
          .queries = true,
          .normalize = true,
          .times = true,
          .shows_attention = true,
          .time_kernels = {"decay"},
          .window = true,
          .convolution = true,
          .gaps = true,
          .any_order = true,
          .carries = spec.window > 0,
          .features = false,
          .values = true};
}

/// Exact softmax attention; the time kernel is a learned penalty on the lag or time (ALiBi).
class SoftmaxMixer : public AttentionMixer {
 public:
  explicit SoftmaxMixer(const MixerSpec& spec)
      : AttentionMixer(spec),
        causal_(spec.causal),
        window_(spec.window),
        time_kernel_(spec.time_kernel, spec.heads, spec.width) {
    require(softmax_traits(spec).has_time_kernel(spec.time_kernel.kind), "softmax", "time kernel ",
            spec.time_kernel.kind, " requires linear attention; set it to none or decay");
    require(spec.time_kernel.per == "head", "softmax",
            "exact attention has rates per head; set time_kernel.per = \"head\"");
    require(window_ == 0 || causal_, "softmax", "window requires causal attention");
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<SoftmaxState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "softmax");
    auto& past = static_cast<SoftmaxState&>(state);
    Normed rows(x);
    const auto [q, k, v] = projections_.split(tape, rows, past);
    time_kernel_.require_window(window_ == 0 || past.gap == 1, "softmax");
    past.cache.append(k, v, past.time);
    if (window_ > 0 && past.cache.size() > window_) past.cache.pop_front();
    Tensor y = past.cache.attend(q, single_rates(time_kernel_.rate(tape, x), q.dim(0)));
    return projections_.join(tape, means_of(tape, y, q.shape()));
  }

  void visit(Visitor& visitor) override {
    projections_.visit(visitor);
    visitor("time_kernel", time_kernel_);
  }

 private:
  Var attend(Tape& tape, Normed& x, const Layout& layout) override {
    const Var rate = time_kernel_.rate(tape, x, layout);
    const auto [q, k, v] = projections_.split(tape, x, layout);
    show_attention(tape, *this, {q, k, rate, Var(), Var(), causal_, layout.lengths, window_});
    if (window_ == 0) return softmax_attention(q, k, v, rate, causal_, layout.lengths);
    time_kernel_.require_window(layout.regular(), "softmax");
    return slice(local_attention(q, k, v, rate, window_, layout.lengths), 3, 0, q.dim(3));
  }

  bool causal_;
  std::size_t window_;
  TimeKernel time_kernel_;
};

}  // namespace

void add_softmax(Mixers& all) { all.add("softmax", make<SoftmaxMixer>, softmax_traits); }

}  // namespace bochner::inline BOCHNER_PRECISION

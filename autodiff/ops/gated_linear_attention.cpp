#include <algorithm>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/compute/state_scan.hpp>
#include <bochner/autodiff/ops/gated_linear_attention.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr const char* gated_name = "gated_linear_attention";

/// What one call, forward or backward, works on.
struct GatedAttention {
  std::size_t B, T, H, F, d, chunk;
  const real *q, *k, *v, *log_decay;
  bool by_token;      ///< decays (B, T, H, F)
  std::size_t heads;  ///< of a task: more than one if they are small
  const GatedLinearAttentionOptions& options;

  GatedAttention(const Var& q, const Var& k, const Var& v, const Var& log_decay,
                 const GatedLinearAttentionOptions& options)
      : B(v.dim(0)),
        T(v.dim(1)),
        H(v.dim(2)),
        F(q.dim(3)),
        d(v.dim(3)),
        chunk(std::max<std::size_t>(1, std::min(options.chunk, T))),
        q(q.data()),
        k(k.data()),
        v(v.data()),
        log_decay(log_decay.data()),
        by_token(log_decay.rank() == 4),
        heads(heads_side_by_side(H, F, d)),
        options(options) {}

  std::size_t longest() const { return whole_lanes(std::max(F, d)); }
};

/// One head of one sequence, or several side by side.
class GatedHead {
 public:
  GatedHead(const GatedAttention& in, std::size_t index, Arena& arena)
      : in_(in),
        b_(index / (in.H / in.heads)),
        h_(index % (in.H / in.heads) * in.heads),
        channels_(in.heads * in.F),
        fades_(whole_lanes(channels_)) {
    length_ = in.options.lengths.empty() ? in.T : in.options.lengths[b_];
    arena.take(in.chunk * fades_, decay_);
    arena.take(in.chunk * in.longest(), x_, y_);
    arena.take(in.F * whole_lanes(in.d), by_feature_);
    arena.take(in.d * whole_lanes(in.F), by_value_);
    arena.take(channels_, passing_, total_);
  }

  void run(real* out) {
    std::fill_n(by_feature_, in_.F * whole_lanes(in_.d), real(0));
    each_chunk(in_.options.reverse, [&](std::size_t first, std::size_t tokens) {
      load_decays(first, tokens, 0);
      values({first, tokens, in_.options.reverse}, in_.k, in_.q, in_.v, out);
    });
  }

  /// Gradients, of the shapes of the inputs; that of decays (B, T, H, F) or sums (B, H, F).
  void run_backward(const real* g, real* dq, real* dk, real* dv, real* by_token, double* sums) {
    std::fill_n(by_value_, in_.d * whole_lanes(in_.F), real(0));
    each_chunk(in_.options.reverse, [&](std::size_t first, std::size_t tokens) {
      load_decays(first, tokens, 0);
      features({first, tokens, in_.options.reverse}, in_.v, g, in_.k, dq);
    });
    std::fill_n(by_value_, in_.d * whole_lanes(in_.F), real(0));
    std::fill_n(by_feature_, in_.F * whole_lanes(in_.d), real(0));
    std::fill_n(passing_, channels_, 0.0);
    std::fill_n(total_, channels_, 0.0);
    each_chunk(!in_.options.reverse, [&](std::size_t first, std::size_t tokens) {
      load_decays(first, tokens, in_.options.reverse ? -1 : 1);
      features({first, tokens, !in_.options.reverse}, g, in_.v, in_.q, dk);
      values({first, tokens, !in_.options.reverse}, in_.q, in_.k, g, dv);
      decays({first, tokens, !in_.options.reverse}, dq, dk, by_token);
    });
    if (!by_token) std::copy_n(total_, channels_, sums + (b_ * in_.H + h_) * in_.F);
  }

 private:
  struct Chunk {
    std::size_t first, tokens;
    bool backward;
  };

  template <class Body>
  void each_chunk(bool backward, const Body& body) const {
    const std::size_t chunks = (length_ + in_.chunk - 1) / in_.chunk;
    for (std::size_t i = 0; i < chunks; ++i) {
      const std::size_t first = (backward ? chunks - 1 - i : i) * in_.chunk;
      body(first, std::min(in_.chunk, length_ - first));
    }
  }

  /// This head's numbers of a token in an array (B, T, H, n).
  std::size_t at(std::size_t token, std::size_t n) const {
    return ((b_ * in_.T + token) * in_.H + h_) * n;
  }
  TokenRows rows(const real* x, std::size_t first, std::size_t n) const {
    return {x + at(first, n), in_.H * n};
  }

  /// exp(log_decay) of the tokens `shift` further; the state is zero where there is none.
  void load_decays(std::size_t first, std::size_t tokens, std::ptrdiff_t shift) {
    if (!in_.by_token) return load_decay(in_.log_decay + h_ * in_.F, decay_);
    for (std::size_t i = 0; i < tokens; ++i) {
      const std::size_t token = first + i + std::size_t(shift);  // -1 wraps to beyond the length
      if (token < length_) {
        load_decay(in_.log_decay + at(token, in_.F), decay_ + i * fades_);
      } else {
        std::fill_n(decay_ + i * fades_, fades_, real(0));
      }
    }
  }
  void load_decay(const real* log_decay, real* to) const {
    for (std::size_t f = 0; f < channels_; ++f) to[f] = math::exp(log_decay[f]);
    std::fill(to + channels_, to + fades_, real(0));
  }
  TokenRows fading() const { return {decay_, in_.by_token ? fades_ : 0}; }

  /// out_t = S_t^T read_t over a state (F, d) that write_t x_t^T adds to.
  void values(const Chunk& now, const real* write, const real* read, const real* x, real* out) {
    scan_rows(now, in_.F, in_.d, true, rows(write, now.first, in_.F), rows(read, now.first, in_.F),
              x, out, by_feature_);
  }
  /// The same over its transpose (d, F).
  void features(const Chunk& now, const real* write, const real* read, const real* x, real* out) {
    scan_rows(now, in_.d, in_.F, false, rows(write, now.first, in_.d), rows(read, now.first, in_.d),
              x, out, by_value_);
  }
  void scan_rows(const Chunk& now, std::size_t count, std::size_t n, bool decays_rows,
                 const TokenRows& write, const TokenRows& read, const real* x, real* out,
                 real* state) {
    if (in_.heads > 1) return scan_heads(now, n, decays_rows, write, read, x, out, state);
    const std::size_t width = whole_lanes(n);
    for (std::size_t i = 0; i < now.tokens; ++i) {
      std::copy_n(x + at(now.first + i, n), n, x_ + i * width);
      std::fill(x_ + i * width + n, x_ + (i + 1) * width, real(0));
    }
    scan({now.tokens,
          count,
          width,
          now.backward,
          in_.options.strict,
          decays_rows,
          fading(),
          write,
          read,
          {x_, width},
          y_},
         state);
    for (std::size_t i = 0; i < now.tokens; ++i)
      std::copy_n(y_ + i * width, n, out + at(now.first + i, n));
  }

  /// Of heads that fill a vector together: nothing is packed.
  void scan_heads(const Chunk& now, std::size_t n, bool decays_rows, const TokenRows& write,
                  const TokenRows& read, const real* x, real* out, real* state) {
    scan_side_by_side({now.tokens, n, channels_, now.backward, in_.options.strict, decays_rows,
                       fading(), write, read, rows(x, now.first, n), y_},
                      state);
    for (std::size_t i = 0; i < now.tokens; ++i)
      std::copy_n(y_ + i * channels_, channels_, out + at(now.first + i, n));
  }

  /// With G_t the sum of log decays up to t, the weight of key j for query i is exp(G_i - G_j):
  /// q_t dq_t - k_t dk_t is the derivative with respect to G_t, and its sum from t on that with
  /// respect to the decay at t.
  void decays(const Chunk& now, const real* dq, const real* dk, real* out) {
    for (std::size_t i = 0; i < now.tokens; ++i) {
      const std::size_t t = now.first + (now.backward ? now.tokens - 1 - i : i);
      const std::size_t place = at(t, in_.F);
      for (std::size_t f = 0; f < channels_; ++f) {
        const std::size_t j = place + f;
        passing_[f] += double(in_.q[j]) * double(dq[j]) - double(in_.k[j]) * double(dk[j]);
        total_[f] += passing_[f];
        if (out) out[j] = real(passing_[f]);
      }
    }
  }

  const GatedAttention& in_;
  std::size_t b_, h_, length_ = 0;
  std::size_t channels_, fades_;  // of decays: F of each head, the same in whole vectors
  real* decay_;                   // (C, F in whole vectors)
  real *x_, *y_;                  // (C, F or d in whole vectors)
  real* by_feature_;              // (F, d in whole vectors): the state
  real* by_value_;                // (d, F in whole vectors): its transpose
  double *passing_, *total_;      // (F)
};

template <class Task>
void each_gated_head(const GatedAttention& in, const Task& task) {
  Scratch<real> scratch(scratch_size<GatedHead>(in, 0));
  parallel_tasks(in.B * (in.H / in.heads), [&](std::size_t index) {
    Arena arena(scratch.local());
    GatedHead head(in, index, arena);
    task(head);
  });
}

void require_gated(const Var& q, const Var& k, const Var& v, const Var& log_decay,
                   const GatedLinearAttentionOptions& options) {
  const Shape features = q.shape();
  require(features.size() == 4 && features == k.shape() && features[3] > 0, gated_name,
          "features must be (B, T, H, F): q ", features, ", k ", k.shape());
  require(v.rank() == 4 && std::equal(features.begin(), features.begin() + 3, v.shape().begin()),
          gated_name, "values must be (B, T, H, d) like the features: v ", v.shape(), ", k ",
          k.shape());
  require(log_decay.shape() == features || log_decay.shape() == Shape{features[2], features[3]},
          gated_name, "decays must be (H, F) or (B, T, H, F): log_decay ", log_decay.shape(),
          ", k ", k.shape());
  require(options.chunk > 0, gated_name, "the chunk must hold at least one token");
  require_lengths(gated_name, options.lengths, v.shape());
}

}  // namespace

Var gated_linear_attention(const Var& q, const Var& k, const Var& v, const Var& log_decay,
                           const GatedLinearAttentionOptions& options) {
  require_gated(q, k, v, log_decay, options);
  const bool all_tokens = options.lengths.empty();
  const auto like = [all_tokens](const Var& x) {
    return all_tokens ? uninitialized(x.shape()) : zeros(x.shape());
  };
  Tensor y = like(v);
  const GatedAttention in(q, k, v, log_decay, options);
  if (y.size() > 0) each_gated_head(in, [&](GatedHead& head) { head.run(y.data()); });
  return record(gated_name, std::move(y), {q, k, v, log_decay}, [=](Tensor& g) {
    if (g.size() == 0) return;
    const GatedAttention in(q, k, v, log_decay, options);
    Tensor dq = like(q), dk = like(k), dv = like(v);
    Tensor dg = in.by_token ? like(log_decay) : Tensor();
    std::vector<double> sums(in.by_token ? 0 : in.B * in.H * in.F);
    each_gated_head(in, [&](GatedHead& head) {
      head.run_backward(g.data(), dq.data(), dk.data(), dv.data(),
                        in.by_token ? dg.data() : nullptr, sums.data());
    });
    q.add_gradient(std::move(dq));
    k.add_gradient(std::move(dk));
    v.add_gradient(std::move(dv));
    if (log_decay.needs_gradient())
      log_decay.add_gradient(in.by_token ? std::move(dg) : sum_repeats(sums, log_decay.shape()));
  });
}

Tensor gated_linear_attention_step(Tensor& state, const Tensor& q, const Tensor& k, const Tensor& v,
                                   const Tensor& log_decay) {
  require(state.dimension() == 3, gated_name, "a state is (H, F, d), not ", state.shape());
  const std::size_t H = state.shape()[0], F = state.shape()[1], d = state.shape()[2];
  const Shape features{H, F};
  require(q.shape() == features && k.shape() == features && log_decay.shape() == features &&
              v.shape() == Shape{H, d},
          gated_name, "a token of a state (H, F, d) ", state.shape(),
          " has q, k, log_decay (H, F): ", q.shape(), ", ", k.shape(), ", ", log_decay.shape(),
          ", and v (H, d): ", v.shape());
  Tensor y = zeros({H, d});
  for (std::size_t row = 0; row < H * F; ++row) {
    const real decay = math::exp(log_decay.data()[row]);
    const real *value = v.data() + row / F * d, key = k.data()[row], query = q.data()[row];
    real *s = state.data() + row * d, *to = y.data() + row / F * d;
    for (std::size_t e = 0; e < d; ++e) {
      s[e] = std::fma(decay, s[e], key * value[e]);
      to[e] = std::fma(query, s[e], to[e]);
    }
  }
  return y;
}

}  // namespace bochner::inline BOCHNER_PRECISION

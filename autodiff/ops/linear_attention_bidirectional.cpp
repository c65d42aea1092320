#include <bochner/autodiff/ops/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {
namespace {

/// Bidirectional: one state over all keys, in units of the largest; then every query reads it.
class Head {
 public:
  static std::size_t scratch_size(const Sizes& n) {
    return Chunk::scratch_size(n) + 2 * State::scratch_size(n) + 2 * n.C * n.F + n.C * n.d + n.C;
  }

  Head(const Inputs& in, std::size_t b, std::size_t h, Arena arena)
      : in_(in),
        n_(in.n),
        b_(b),
        h_(h),
        chunk_(n_, arena),
        state_(n_, arena),
        later_(n_, arena),
        gradient_(arena.take(n_.C * n_.F)),
        extra_(arena.take(n_.C * n_.F)),
        numerator_(arena.take(n_.C * n_.d)),
        weight_(arena.take(n_.C)) {
    sum_keys();
  }

  void forward(real* out) {
    for (std::size_t c = 0; c < n_.chunks(); ++c) {
      real* y = out + n_.value_offset(b_, h_, c);
      load_queries(c);
      gemm(Transpose::no, Transpose::no, chunk_.rows, n_.d, n_.F, 1, chunk_.q, n_.F, state_.values,
           n_.d, 0, y, n_.value_stride());
      scale_rows(chunk_.rows, n_.d, chunk_.normalizer, y, n_.value_stride());
    }
  }

  void backward(const real* y, const real* g, AttentionGradients& out) {
    later_.clear(n_);
    for (std::size_t c = 0; c < n_.chunks(); ++c) differentiate_queries(c, y, g, out.q.data());
    for (std::size_t c = 0; c < n_.chunks(); ++c) differentiate_keys(c, out);
  }

 private:
  void load_queries(std::size_t c) {
    chunk_.rows = n_.rows(c);
    chunk_.load_queries(n_, in_.q + n_.feature_offset(b_, h_, c), in_.scale);
    for (std::size_t i = 0; i < chunk_.rows; ++i) {
      chunk_.normalizer[i] =
          safe_inverse(dot_row(chunk_.q + i * n_.F, state_.weights, n_.F), in_.floor);
    }
  }
  void load_keys(std::size_t c) {
    chunk_.load_keys(n_, in_.k + n_.feature_offset(b_, h_, c), n_.rows(c), 0, in_.scale);
    for (std::size_t j = 0; j < chunk_.rows; ++j)
      chunk_.carry[j] = math::exp(chunk_.log_key[j] - largest_);
  }

  void sum_keys() {
    for (std::size_t c = 0; c < n_.chunks(); ++c) {
      load_keys(c);
      largest_ = std::max(largest_, max_row(chunk_.log_key, chunk_.rows));
    }
    state_.clear(n_);
    chunk_.keep = 1;
    for (std::size_t c = 0; c < n_.chunks(); ++c) {
      load_keys(c);
      std::fill_n(chunk_.top, chunk_.rows, largest_);
      state_.advance(n_, chunk_, in_.v + n_.value_offset(b_, h_, c), 0, extra_, state_);
    }
  }

  void differentiate_queries(std::size_t c, const real* y, const real* g, real* dq) {
    const std::size_t values = n_.value_offset(b_, h_, c);
    load_queries(c);
    split_quotient(n_, chunk_.rows, g + values, y + values, chunk_.normalizer, in_.floor,
                   numerator_, weight_);
    gemm(Transpose::no, Transpose::yes, chunk_.rows, n_.F, n_.d, 1, numerator_, n_.d, state_.values,
         n_.d, 0, gradient_, n_.F);
    for (std::size_t i = 0; i < chunk_.rows; ++i) {
      for (std::size_t f = 0; f < n_.F; ++f) {
        gradient_[i * n_.F + f] += weight_[i] * state_.weights[f];
        later_.weights[f] += weight_[i] * chunk_.q[i * n_.F + f];
      }
    }
    gemm(Transpose::yes, Transpose::no, n_.F, n_.d, chunk_.rows, 1, chunk_.q, n_.F, numerator_,
         n_.d, 1, later_.values, n_.d);
    store_features(n_, chunk_.rows, gradient_, chunk_.q, in_.scale,
                   dq + n_.feature_offset(b_, h_, c));
  }

  void differentiate_keys(std::size_t c, AttentionGradients& out) {
    const std::size_t values = n_.value_offset(b_, h_, c);
    load_keys(c);
    gemm(Transpose::no, Transpose::yes, chunk_.rows, n_.F, n_.d, 1, in_.v + values,
         n_.value_stride(), later_.values, n_.d, 0, extra_, n_.F);
    std::fill_n(gradient_, chunk_.rows * n_.F, real(0));
    add_outer_part(chunk_.rows, n_.F, chunk_.carry, extra_, nullptr, later_.weights, gradient_);
    real* dv = out.v.data() + values;
    gemm(Transpose::no, Transpose::no, chunk_.rows, n_.d, n_.F, 1, chunk_.k, n_.F, later_.values,
         n_.d, 0, dv, n_.value_stride());
    scale_rows(chunk_.rows, n_.d, chunk_.carry, dv, n_.value_stride());
    store_features(n_, chunk_.rows, gradient_, chunk_.k, in_.scale,
                   out.k.data() + n_.feature_offset(b_, h_, c));
  }

  const Inputs& in_;
  const Sizes& n_;
  std::size_t b_, h_;
  real largest_ = nothing;
  Chunk chunk_;
  State state_, later_;
  real *gradient_, *extra_, *numerator_, *weight_;
};

}  // namespace

void attend_bidirectionally(const Inputs& in, Tensor& out) {
  const Sizes& n = in.n;
  Scratch<real> scratch(Head::scratch_size(n));
  parallel_tasks(n.B * n.H, [&](std::size_t task) {
    Head(in, task / n.H, task % n.H, {scratch.local()}).forward(out.data());
  });
}

void attend_bidirectionally_backward(const Inputs& in, const Tensor& y, const Tensor& g,
                                     AttentionGradients& gradients) {
  const Sizes& n = in.n;
  Scratch<real> scratch(Head::scratch_size(n));
  parallel_tasks(n.B * n.H, [&](std::size_t task) {
    Head(in, task / n.H, task % n.H, {scratch.local()}).backward(y.data(), g.data(), gradients);
  });
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION

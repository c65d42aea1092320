#include <bochner/autodiff/ops/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {
namespace {

void attend_head(const Inputs& in, std::size_t b, std::size_t h, real* out, Arena arena) {
  const Sizes& n = in.n;
  Chunk chunk(n, arena);
  State state(n, arena);
  state.clear(n);
  real* weighted_keys = arena.take(n.C * n.F);
  for (std::size_t c = 0; c < n.chunks(); ++c) {
    const real* v = in.v + n.value_offset(b, h, c);
    real* y = out + n.value_offset(b, h, c);
    chunk.load_keys(n, in.k + n.feature_offset(b, h, c), n.rows(c), in.rate_of(h), in.scale);
    chunk.load_queries(n, in.q + n.feature_offset(b, h, c), in.scale);
    chunk.weigh(state.unit);
    chunk.multiply(n, state.weights, in.floor);
    gemm(Transpose::no, Transpose::no, chunk.rows, n.d, n.F, 1, chunk.q, n.F, state.values, n.d, 0,
         y, n.value_stride());
    scale_rows(chunk.rows, n.d, chunk.past, y, n.value_stride());
    gemm(Transpose::no, Transpose::no, chunk.rows, n.d, chunk.rows, 1, chunk.product, n.C, v,
         n.value_stride(), 1, y, n.value_stride());
    scale_rows(chunk.rows, n.d, chunk.normalizer, y, n.value_stride());
    if (c + 1 < n.chunks()) state.advance(n, chunk, v, in.rate_of(h), weighted_keys, state);
  }
}

/// One head of one sequence, chunks in reverse order. Returns dL/drate.
class BackwardHead {
 public:
  static std::size_t scratch_size(const Sizes& n) {
    return Chunk::scratch_size(n) + (n.chunks() + 1) * State::scratch_size(n) + 3 * n.C * n.F +
           n.C * n.C + n.C * n.d + n.C;
  }

  BackwardHead(const Inputs& in, std::size_t b, std::size_t h, Arena arena)
      : in_(in),
        n_(in.n),
        b_(b),
        h_(h),
        rate_(in.rate_of(h)),
        chunk_(n_, arena),
        later_(n_, arena),
        dq_(arena.take(n_.C * n_.F)),
        dk_(arena.take(n_.C * n_.F)),
        extra_(arena.take(n_.C * n_.F)),
        da_(arena.take(n_.C * n_.C)),
        numerator_(arena.take(n_.C * n_.d)),
        weight_(arena.take(n_.C)) {
    later_.clear(n_);
    for (std::size_t c = 0; c < n_.chunks(); ++c) states_.emplace_back(n_, arena);
    run_forward();
  }

  double run(const real* y, const real* g, AttentionGradients& out) {
    for (std::size_t c = n_.chunks(); c-- > 0;) {
      const std::size_t values = n_.value_offset(b_, h_, c),
                        features = n_.feature_offset(b_, h_, c);
      load(c);
      chunk_.load_queries(n_, in_.q + features, in_.scale);
      chunk_.multiply(n_, states_[c].weights, in_.floor);
      split_quotient(n_, chunk_.rows, g + values, y + values, chunk_.normalizer, in_.floor,
                     numerator_, weight_);
      differentiate_products(in_.v + values);
      differentiate_queries(states_[c]);
      differentiate_keys(in_.v + values);
      differentiate_values(out.v.data() + values);
      for (std::size_t j = 0; j < chunk_.rows; ++j) {
        rate_gradient_ += double(j) * dot_row(chunk_.k + j * n_.F, dk_ + j * n_.F, n_.F);
        // A query's scale cancels in the quotient, but not where the floor is the denominator.
        if (in_.floor > 0)
          rate_gradient_ -= double(j) * dot_row(chunk_.q + j * n_.F, dq_ + j * n_.F, n_.F);
      }
      store_features(n_, chunk_.rows, dq_, chunk_.q, in_.scale, out.q.data() + features);
      store_features(n_, chunk_.rows, dk_, chunk_.k, in_.scale, out.k.data() + features);
      if (c > 0) differentiate_state(states_[c]);
    }
    return rate_gradient_;
  }

 private:
  void load(std::size_t c) {
    chunk_.load_keys(n_, in_.k + n_.feature_offset(b_, h_, c), n_.rows(c), rate_, in_.scale);
    chunk_.weigh(states_[c].unit);
  }

  /// The state before each chunk.
  void run_forward() {
    states_[0].clear(n_);
    for (std::size_t c = 0; c + 1 < n_.chunks(); ++c) {
      load(c);
      states_[c].advance(n_, chunk_, in_.v + n_.value_offset(b_, h_, c), rate_, extra_,
                         states_[c + 1]);
    }
  }

  /// da = weight * (numerator v^T + weight gradient): the gradient of q k^T inside the chunk.
  void differentiate_products(const real* v) {
    gemm(Transpose::no, Transpose::yes, chunk_.rows, chunk_.rows, n_.d, 1, numerator_, n_.d, v,
         n_.value_stride(), 0, da_, n_.C);
    for (std::size_t i = 0; i < chunk_.rows; ++i) {
      real* row = da_ + i * n_.C;
      const real* w = chunk_.weight + i * n_.C;
      for (std::size_t j = 0; j < chunk_.rows; ++j) row[j] = (row[j] + weight_[i]) * w[j];
    }
  }

  void differentiate_queries(const State& state) {
    gemm(Transpose::no, Transpose::no, chunk_.rows, n_.F, chunk_.rows, 1, da_, n_.C, chunk_.k, n_.F,
         0, dq_, n_.F);
    gemm(Transpose::no, Transpose::yes, chunk_.rows, n_.F, n_.d, 1, numerator_, n_.d, state.values,
         n_.d, 0, extra_, n_.F);
    add_outer_part(chunk_.rows, n_.F, chunk_.past, extra_, weight_, state.weights, dq_);
  }

  void differentiate_keys(const real* v) {
    gemm(Transpose::yes, Transpose::no, chunk_.rows, n_.F, chunk_.rows, 1, da_, n_.C, chunk_.q,
         n_.F, 0, dk_, n_.F);
    gemm(Transpose::no, Transpose::yes, chunk_.rows, n_.F, n_.d, 1, v, n_.value_stride(),
         later_.values, n_.d, 0, extra_, n_.F);
    add_outer_part(chunk_.rows, n_.F, chunk_.carry, extra_, nullptr, later_.weights, dk_);
  }

  void differentiate_values(real* dv) {
    gemm(Transpose::no, Transpose::no, chunk_.rows, n_.d, n_.F, 1, chunk_.k, n_.F, later_.values,
         n_.d, 0, dv, n_.value_stride());
    scale_rows(chunk_.rows, n_.d, chunk_.carry, dv, n_.value_stride());
    gemm(Transpose::yes, Transpose::no, chunk_.rows, n_.d, chunk_.rows, 1, chunk_.product, n_.C,
         numerator_, n_.d, 1, dv, n_.value_stride());
  }

  /// later = gradient of the state that entered this chunk; its unit moves by -rate C per chunk.
  void differentiate_state(const State& state) {
    for (std::size_t f = 0; f < n_.F; ++f) later_.weights[f] *= chunk_.keep;
    for (std::size_t i = 0; i < chunk_.rows; ++i) {
      const real amount = chunk_.past[i] * weight_[i];
      for (std::size_t f = 0; f < n_.F; ++f) later_.weights[f] += amount * chunk_.q[i * n_.F + f];
    }
    scale_rows(chunk_.rows, n_.d, chunk_.past, numerator_, n_.d);
    gemm(Transpose::yes, Transpose::no, n_.F, n_.d, chunk_.rows, 1, chunk_.q, n_.F, numerator_,
         n_.d, chunk_.keep, later_.values, n_.d);
    rate_gradient_ -= double(n_.C) * (double(dot_row(later_.values, state.values, n_.F * n_.d)) +
                                      double(dot_row(later_.weights, state.weights, n_.F)));
  }

  const Inputs& in_;
  const Sizes& n_;
  std::size_t b_, h_;
  real rate_;
  Chunk chunk_;
  State later_;  // gradient of the state after the current chunk
  real *dq_, *dk_, *extra_, *da_, *numerator_, *weight_;
  std::vector<State> states_;  // before each chunk
  double rate_gradient_ = 0;
};

}  // namespace

void attend_causally(const Inputs& in, Tensor& out) {
  const Sizes& n = in.n;
  Scratch<real> scratch(Chunk::scratch_size(n) + State::scratch_size(n) + n.C * n.F);
  parallel_tasks(n.B * n.H, [&](std::size_t task) {
    attend_head(in, task / n.H, task % n.H, out.data(), {scratch.local()});
  });
}

void attend_causally_backward(const Inputs& in, const Tensor& y, const Tensor& g,
                              AttentionGradients& gradients) {
  const Sizes& n = in.n;
  Scratch<real> scratch(BackwardHead::scratch_size(n));
  parallel_tasks(n.B * n.H, [&](std::size_t task) {
    BackwardHead head(in, task / n.H, task % n.H, {scratch.local()});
    gradients.rate[task] = head.run(y.data(), g.data(), gradients);
  });
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/ops/attention/linear_attention_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {
namespace {

/// Bidirectional: one state over all keys, which every query reads.
class Head : HeadWithGradients {
 public:
  Head(const Attention& in, Memory& memory, std::size_t index, Arena& arena)
      : HeadWithGradients(in, memory, index, arena), keys_(n_, arena), state_(n_, arena) {
    arena.take(n_.C, one_, lowest_);
  }

  static void forward(Heads<Head>& heads, real* out) {
    const std::size_t chunks = heads[0].chunks();
    for (Head& head : heads) head.state_.clear(head.n_);
    for (std::size_t c = 0; c < chunks; ++c) {
      for (Head& head : heads) head.add_keys(c);
    }
    for (Head& head : heads) head.state_.save(head.n_, head.before(0));
    for (std::size_t c = 0; c < chunks; ++c) {
      for (Head& head : heads) head.read(head.towards_next(c), out);
    }
  }

  static void backward(Heads<Head>& heads, const Tensor& y, const Tensor& g, OtherGradients& out) {
    const std::size_t chunks = heads[0].chunks();
    for (Head& head : heads) head.start_backward();
    for (std::size_t c = 0; c < chunks; ++c) {
      for (Head& head : heads) head.differentiate_queries(head.towards_next(c), y.data(), g.data());
    }
    for (std::size_t c = 0; c < chunks; ++c) {
      for (Head& head : heads) head.differentiate_keys(head.towards_next(c), out.v.data());
    }
  }

 private:
  Place towards_next(std::size_t c) const { return place(c, std::min(c + 1, chunks() - 1)); }

  void add_keys(std::size_t c) {
    keys_.load(in_, towards_next(c), state_.unit);
    state_.add(n_, keys_);
  }

  void start_backward() {
    state_.restore(n_, before(0));
    std::fill_n(later_, n_.state(), real(0));
    std::fill_n(one_, n_.C, real(1));
    std::fill_n(lowest_, n_.C, in_.floor);
  }

  void read(const Place& place, real* y) {
    real* factor = normalizer(place);
    y += n_.value_offset(place);
    in_.q->load(place, q_, nullptr);
    gemm(place.rows, n_.d, n_.F, {q_, n_.F}, {state_.sums, n_.F, transposed}, 0, y,
         n_.value_stride());
    dot_each_row(place.rows, n_.F, q_, n_.F, state_.weights(n_), 0, factor);
    for (std::size_t i = 0; i < place.rows; ++i, y += n_.value_stride()) {
      if (in_.logarithmic) require_weights(factor[i], state_.unit, q_ + i * n_.F, n_.F);
      factor[i] = safe_inverse(factor[i], in_.floor);
      for (std::size_t e = 0; e < n_.d; ++e) y[e] *= factor[i];
    }
  }

  void differentiate_queries(const Place& place, const real* y, const real* g) {
    const std::size_t values = n_.value_offset(place);
    in_.q->load(place, q_, nullptr);
    split_quotient(n_, place, g + values, y + values, normalizer(place), lowest_, numerator_,
                   weight_);
    scale_and_extend(place.rows, n_.d, one_, numerator_, n_.d, weight_, extended_);
    gemm(place.rows, n_.F, n_.d + 1, {extended_, n_.d + 1}, {state_.sums, n_.F}, 0, gradient_,
         n_.F);
    gemm(n_.d + 1, n_.F, place.rows, {extended_, n_.d + 1, transposed}, {q_, n_.F}, 1, later_,
         n_.F);
    in_.q->store(place, q_, gradient_, nullptr);
  }

  void differentiate_keys(const Place& place, real* dv) {
    dv += n_.value_offset(place);
    keys_.load(in_, place, state_.unit);
    gemm(place.rows, n_.F, n_.d + 1, {keys_.extended, n_.d + 1}, {later_, n_.F}, 0, gradient_,
         n_.F);
    gemm(place.rows, n_.d, n_.F, {keys_.features, n_.F}, {later_, n_.F, transposed}, 0, dv,
         n_.value_stride());
    for (std::size_t j = 0; j < place.rows; ++j, dv += n_.value_stride()) {
      for (std::size_t e = 0; e < n_.d; ++e) dv[e] *= keys_.carry[j];
    }
    in_.k->store(place, keys_.features, gradient_, slope_);
  }

  Keys keys_;
  State state_;
  real *one_, *lowest_;  // (C)
};

}  // namespace

void attend_bidirectionally(const Attention& in, Memory& memory, Tensor& out) {
  memory.allocate(in.n, 1);
  for_each_head<Head>(in, memory, [&](Heads<Head>& heads) { Head::forward(heads, out.data()); });
}

void attend_bidirectionally_backward(const Attention& in, Memory& memory, const Tensor& y,
                                     const Tensor& g, OtherGradients& gradients) {
  for_each_head<Head>(in, memory,
                      [&](Heads<Head>& heads) { Head::backward(heads, y, g, gradients); });
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION

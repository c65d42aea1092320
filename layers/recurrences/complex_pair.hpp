#pragma once
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Complex parameters on the tape. Both parts have one shape and broadcast.
struct ComplexPair {
  Var re, im;
};

inline ComplexPair operator*(const ComplexPair& a, const ComplexPair& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline ComplexPair operator/(const ComplexPair& a, const ComplexPair& b) {
  const Var square_of_b = square(b.re) + square(b.im);
  return {(a.re * b.re + a.im * b.im) / square_of_b, (a.im * b.re - a.re * b.im) / square_of_b};
}
inline ComplexPair operator*(const ComplexPair& a, const Var& factor) {
  return {a.re * factor, a.im * factor};
}
inline ComplexPair operator+(const ComplexPair& a, double b) { return {a.re + b, a.im}; }
inline ComplexPair exponential(const ComplexPair& a) {
  const Var size = exp(a.re);
  return {size * cos(a.im), size * sin(a.im)};
}
/// Concatenates [re | im] along the last axis. (.., n) -> (.., 2n)
inline Var concat_parts(const ComplexPair& a) { return concat({a.re, a.im}, -1); }
/// Stacks real and imaginary parts. (N, D) -> (2, N, D)
inline Var stack_parts(const ComplexPair& a) {
  const Shape shape{1, a.re.dim(0), a.re.dim(1)};
  return concat({reshape(a.re, shape), reshape(a.im, shape)}, 0);
}
/// Inverts concat_parts().
inline ComplexPair split_parts(const Var& x) {
  const std::size_t n = x.dim(-1) / 2;
  return {slice(x, -1, 0, n), slice(x, -1, n, 2 * n)};
}

}  // namespace bochner::inline BOCHNER_PRECISION

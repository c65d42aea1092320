#pragma once
/// Elementwise ops. Two-argument ops broadcast by NumPy's rule: (..), (..) -> (..).

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns a + b, broadcast.
Var add(const Var& a, const Var& b);
/// Returns a - b, broadcast.
Var sub(const Var& a, const Var& b);
/// Returns a * b, broadcast.
Var mul(const Var& a, const Var& b);
/// Returns a / b, broadcast.
Var div(const Var& a, const Var& b);
/// Returns a^b for a > 0, broadcast; the gradient of b is 0 where a = 0.
Var pow(const Var& a, const Var& b);
/// Returns a^exponent for a constant exponent.
Var pow(const Var& a, real exponent);
/// Returns the larger of a and b, broadcast; ties give the gradient to a; NaN propagates.
Var maximum(const Var& a, const Var& b);
/// Returns the smaller of a and b, broadcast; ties give the gradient to a; NaN propagates.
Var minimum(const Var& a, const Var& b);
/// Returns a where condition is not 0, else b; all three broadcast.
Var where(const Tensor& condition, const Var& a, const Var& b);

template <class T>
concept IsVar = std::is_same_v<std::remove_cvref_t<T>, Var>;

/// Accepts all value categories: otherwise xt::where, found through Tensor, matches better.
template <class Condition, IsVar A, IsVar B>
Var where(Condition&& condition, A&& a, B&& b) {
  return where(static_cast<const Tensor&>(condition), std::as_const(a), std::as_const(b));
}

/// Returns a where condition is not 0, else b; no gradient reaches the condition.
Var where(const Var& condition, const Var& a, const Var& b);
template <IsVar Condition, IsVar A, IsVar B>
Var where(Condition&& condition, A&& a, B&& b) {
  return where(std::as_const(condition), std::as_const(a), std::as_const(b));
}

/// Returns factor * x.
Var scale(const Var& x, real factor);
/// Returns x + offset.
Var shift(const Var& x, real offset);
/// Returns -x.
Var neg(const Var& x);
/// Returns e^x.
Var exp(const Var& x);
/// Returns ln x.
Var log(const Var& x);
/// Returns ln(1 + x), accurate near 0.
Var log1p(const Var& x);
/// Returns e^x - 1, accurate near 0.
Var expm1(const Var& x);
/// Returns x^(1/2).
Var sqrt(const Var& x);
/// Returns x^2.
Var square(const Var& x);
/// Returns sin x, x in radians.
Var sin(const Var& x);
/// Returns cos x, x in radians.
Var cos(const Var& x);
/// Returns tanh x.
Var tanh(const Var& x);
/// Returns 1 / (1 + e^-x).
Var sigmoid(const Var& x);
/// Returns ln(1 + e^x).
Var softplus(const Var& x);
/// Returns max(x, 0).
Var relu(const Var& x);
/// Returns x Phi(x), Phi the normal distribution function (exact, not the tanh approximation).
Var gelu(const Var& x);
/// Returns x sigmoid(x).
Var silu(const Var& x);
/// Returns erf x.
Var erf(const Var& x);
/// Returns Phi(x), the normal distribution function, accurate in the left tail.
Var normal_cdf(const Var& x);
/// Returns x for x > 0, else e^x - 1.
Var elu(const Var& x);
/// Returns |x|; the gradient at 0 is 0.
Var abs(const Var& x);
/// Clamps x to [low, high]; no gradient outside.
Var clamp(const Var& x, real low, real high);
/// Returns x / (1 - rate) with probability 1 - rate, else 0; the identity unless training. (..) ->
/// (..) A function of the tape's seed and step and of the order of its random ops.
Var dropout(Tape& tape, const Var& x, real rate);
/// Returns standard Gumbel noise -ln(-ln u), always finite, without a gradient: the argmax of
/// logits plus noise is a draw from their softmax. -> shape. A function like dropout().
Var gumbel_noise(Tape& tape, const Shape& shape);

inline Var operator+(const Var& a, const Var& b) { return add(a, b); }
inline Var operator-(const Var& a, const Var& b) { return sub(a, b); }
inline Var operator*(const Var& a, const Var& b) { return mul(a, b); }
inline Var operator/(const Var& a, const Var& b) { return div(a, b); }
inline Var operator-(const Var& x) { return neg(x); }
inline Var operator+(const Var& x, double offset) { return shift(x, real(offset)); }
inline Var operator+(double offset, const Var& x) { return shift(x, real(offset)); }
inline Var operator-(const Var& x, double offset) { return shift(x, real(-offset)); }
inline Var operator-(double offset, const Var& x) { return shift(neg(x), real(offset)); }
inline Var operator*(const Var& x, double factor) { return scale(x, real(factor)); }
inline Var operator*(double factor, const Var& x) { return scale(x, real(factor)); }
inline Var operator/(const Var& x, double divisor) { return scale(x, real(1 / divisor)); }

/// A Var and an array, for which xtensor's operators would build an expression.
template <class A, class B>
concept VarAndTensor = (std::is_same_v<std::remove_cvref_t<A>, Var> &&
                        std::is_same_v<std::remove_cvref_t<B>, Tensor>) ||
                       (std::is_same_v<std::remove_cvref_t<A>, Tensor> &&
                        std::is_same_v<std::remove_cvref_t<B>, Var>);
template <class A, class B>
requires VarAndTensor<A, B> Var operator+(A&& a, B&& b) { return add(a, b); }
template <class A, class B>
requires VarAndTensor<A, B> Var operator-(A&& a, B&& b) { return sub(a, b); }
template <class A, class B>
requires VarAndTensor<A, B> Var operator*(A&& a, B&& b) { return mul(a, b); }
template <class A, class B>
requires VarAndTensor<A, B> Var operator/(A&& a, B&& b) { return div(a, b); }

}  // namespace bochner::inline BOCHNER_PRECISION

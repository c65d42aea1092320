#pragma once
/// Float bodies of math.hpp. Branch-free with explicit fma, so that scalar and vectorised code give
/// the same bits. Errors against double in ULP for normal results; below, the same number of
/// denormal steps, except exp2_nonpositive and gelu, which are 0 where their power of two is below
/// 2^-126:
///
///   log                           1       sigmoid, exp2_nonpositive  2.5
///   exp, tanh, erf                1.5     gelu, normal_cdf           4
///   sin, cos, sincos, softplus    2       slope of gelu              2^-22 absolute
///
/// NaN propagates. exp overflows to infinity above 88.73 and reaches 0 through denormals. sin and
/// cos keep their relative error near their zeros for |x| < 2^50; they are NaN beyond, where
/// neighbouring floats are many periods apart.
/// Coefficients: minimax fits of the relative error (Lawson's reweighted least squares in 40-digit
/// arithmetic), rounded to float one at a time with the rest fitted again.

#include <bit>
#include <bochner/autodiff/real.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#define BOCHNER_INLINE [[gnu::always_inline]] inline

namespace bochner {
namespace math {
namespace detail {

template <class... Higher>
BOCHNER_INLINE float polynomial(float x, float c0, Higher... higher) {
  if constexpr (sizeof...(Higher) == 0) {
    return c0;
  } else {
    return std::fma(polynomial(x, higher...), x, c0);
  }
}

/// Returns min(x, bound); keeps NaN.
BOCHNER_INLINE float at_most(float bound, float x) { return x > bound ? bound : x; }

/// Returns 2^k for -126 <= k <= 127.
BOCHNER_INLINE float power_of_two(std::int32_t k) { return std::bit_cast<float>((k + 127) << 23); }

/// Adding this to y leaves the exponent field of 2^n in the low bits, n the integer nearest to y.
inline constexpr float exponent_round = 0x1.8p+23f + 127;

/// Returns 2^n for exponent_round + n, -126 <= n <= 1; 0 for n = -127.
BOCHNER_INLINE float shifted_power_of_two(float shifted) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(shifted) << 23);
}

/// Returns e^r - 1 for |r| <= 0.35.
BOCHNER_INLINE float exponential_less_one(float r) {
  const float q =
      polynomial(r, 0x1.fffffep-2f, 0x1.5554aep-3f, 0x1.5556fp-5f, 0x1.122a72p-7f, 0x1.6ba49ap-10f);
  return std::fma(r * r, q, r);
}

/// e^x = 2^k (1 + fraction) with |fraction| < 0.42 for |x| < 2^20.
struct Exponential {
  float fraction;
  std::int32_t k;
};

BOCHNER_INLINE Exponential split_exponential(float x) {
  constexpr float log2_e = 0x1.715476p+0f, ln2_high = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;
  constexpr float round = 0x1.8p+23f;  // adding it leaves an integer in the low bits
  const float shifted = std::fma(x, log2_e, round);
  const float n = shifted - round;
  const float r = std::fma(n, -ln2_low, std::fma(n, -ln2_high, x));
  return {exponential_less_one(r),
          std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(round)};
}

/// Returns ln(2^exponent (1 + f)) for |f| <= 1/3.
BOCHNER_INLINE float join_logarithm(float f, float exponent) {
  constexpr float ln2_high = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;
  const float q =
      polynomial(f, -0.5f, 0x1.555506p-2f, -0x1.fffefap-3f, 0x1.99d05cp-3f, -0x1.559c3p-3f,
                 0x1.1ed452p-3f, -0x1.f33c0ap-4f, 0x1.1e72a2p-3f, -0x1.07ab6cp-3f);
  const float fraction = std::fma(f * f, q, f);
  return std::fma(exponent, ln2_high, std::fma(exponent, ln2_low, fraction));
}

/// x reduced by a multiple of pi/2, and the number of quarter turns removed.
struct Angle {
  float rest;
  std::uint32_t quarter;
};

/// Reduces any |x| < 2^50: two fused steps in double represent pi/2 to 106 bits.
BOCHNER_INLINE Angle reduce_angle(float x) {
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1, round = 0x1.8p+52;
  constexpr double half_pi_high = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;
  const double shifted = std::fma(double(x), two_over_pi, round);
  const double n = shifted - round;
  const double rest = std::fma(n, -half_pi_low, std::fma(n, -half_pi_high, double(x)));
  return {std::fabs(x) < 0x1p+50f ? float(rest) : std::numeric_limits<float>::quiet_NaN(),
          std::uint32_t(std::bit_cast<std::uint64_t>(shifted))};
}

BOCHNER_INLINE float flip_sign(float x, std::uint32_t sign_bit) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ sign_bit);
}

/// Clamp for Bell: the scale is 0 from 13.243 on; from 13.295 on, its bits would be -infinity.
inline constexpr float bell_end = 13.27f;

/// e^(-t^2/2) = (1 + fraction) scale for 0 <= t <= bell_end; t^2 is held in two parts.
struct Bell {
  float fraction, scale;
};

BOCHNER_INLINE Bell bell(float t) {
  constexpr float half_log2_e = 0x1.715476p-1f, ln2_high = 0x1.62e43p-1f, ln2_low = -0x1.05c61p-29f;
  const float square = t * t, square_low = std::fma(t, t, -square);
  const float shifted = std::fma(square, -half_log2_e, exponent_round);
  const float n = shifted - exponent_round;
  float r = std::fma(n, -ln2_low, std::fma(n, -ln2_high, -0.5f * square));
  r = std::fma(-0.5f, square_low, r);
  return {exponential_less_one(r), shifted_power_of_two(shifted)};
}

/// Returns Phi(-t) e^(t^2/2) for t >= 0: 1 / (t + 2.25) times a polynomial in t / (t + 2.25).
BOCHNER_INLINE float scaled_tail(float t) {
  const float s = 1.0f / (t + 2.25f);
  return s * polynomial(t * s, 0x1.2p+0f, -0x1.ca0ed2p-1f, -0x1.1127b8p-4f, 0x1.9d866ep-3f,
                        0x1.80ef22p-4f, 0x1.6fdd5ep-5f, -0x1.c671f8p-3f, 0x1.5df81cp-2f,
                        -0x1.eccdf8p-2f, 0x1.630644p-2f, -0x1.741916p-4f);
}

}  // namespace detail

BOCHNER_INLINE float exp(float x) {
  x = detail::at_most(100.0f, x);
  x = x < -110.0f ? -110.0f : x;
  const detail::Exponential e = detail::split_exponential(x);
  const std::int32_t half = e.k >> 1;  // scaled in two steps, for results below 2^-126
  return (1.0f + e.fraction) * detail::power_of_two(half) * detail::power_of_two(e.k - half);
}

/// Returns 2^x for x <= 1 in half the steps of exp; 0 below 2^-126.5.
BOCHNER_INLINE float exp2_nonpositive(float x) {
  x = x < -127.0f ? -127.0f : x;
  const float shifted = x + detail::exponent_round;
  const float r = x - (shifted - detail::exponent_round);
  const float p = detail::polynomial(r, 1.0f, 0x1.62e42ap-1f, 0x1.ebf9c2p-3f, 0x1.c6b6dap-5f,
                                     0x1.3ce8b2p-7f, 0x1.5bd97ap-10f);
  return p * detail::shifted_power_of_two(shifted);
}

BOCHNER_INLINE float log(float x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const bool denormal = x < std::numeric_limits<float>::min();
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(denormal ? x * 0x1p+25f : x);
  const std::int32_t k = std::int32_t(bits - 0x3f2aaaabu) >> 23;  // the remainder is in [2/3, 4/3)
  const float f = std::bit_cast<float>(bits - (std::uint32_t(k) << 23)) - 1.0f;
  float result = detail::join_logarithm(f, float(denormal ? k - 25 : k));
  result = x < infinity ? result : x;
  result = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : result;
  return x == 0.0f ? -infinity : result;
}

/// Computes both with one range reduction.
BOCHNER_INLINE void sincos(float x, float* sine, float* cosine) {
  const detail::Angle angle = detail::reduce_angle(x);
  const float r = angle.rest, z = r * r;
  const float s = std::copysign(
      std::fma(r * z, detail::polynomial(z, -0x1.555544p-3f, 0x1.1106c6p-7f, -0x1.991c24p-13f), r),
      r);  // for sin(-0)
  const float c =
      detail::polynomial(z, 1.0f, -0.5f, 0x1.55554ap-5f, -0x1.6c0c26p-10f, 0x1.99e70ap-16f);
  const bool odd = angle.quarter & 1;
  *sine = detail::flip_sign(odd ? c : s, (angle.quarter & 2) << 30);
  *cosine = detail::flip_sign(odd ? s : c, ((angle.quarter + 1) & 2) << 30);
}

BOCHNER_INLINE float sin(float x) {
  float sine, cosine;
  sincos(x, &sine, &cosine);
  return sine;
}

BOCHNER_INLINE float cos(float x) {
  float sine, cosine;
  sincos(x, &sine, &cosine);
  return cosine;
}

/// Uses a polynomial near zero, else (e^2|x| - 1) / (e^2|x| + 1).
BOCHNER_INLINE float tanh(float x) {
  const float t = detail::at_most(10.0f, std::fabs(x)), z = t * t;
  const float p = detail::polynomial(z, -0x1.555532p-2f, 0x1.1106fcp-3f, -0x1.b83738p-5f,
                                     0x1.5207b8p-6f, -0x1.75619ap-8f);
  const detail::Exponential e = detail::split_exponential(2.0f * t);
  const float scale = detail::power_of_two(e.k);
  const float numerator = std::fma(scale, e.fraction, scale - 1.0f);
  const float large = numerator / (numerator + 2.0f);
  return std::copysign(t < 0.625f ? std::fma(t * z, p, t) : large, x);
}

BOCHNER_INLINE float erf(float x) {
  constexpr float sqrt_two = 0x1.6a09e6p+0f;
  const float t = std::fabs(x), z = t * t;
  const float p =
      detail::polynomial(z, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2ce6p-4f, -0x1.b7f71ap-6f,
                         0x1.53f224p-8f, -0x1.a3515ep-11f, 0x1.4771fcp-14f);
  const float u = detail::at_most(detail::bell_end, sqrt_two * t), tail = detail::scaled_tail(u);
  const detail::Bell e = detail::bell(u);
  const float large = std::fma(-2.0f * e.scale, std::fma(tail, e.fraction, tail), 1.0f);
  return std::copysign(t < 1.0f ? std::fma(t, p, t) : large, x);
}

BOCHNER_INLINE float sigmoid(float x) {
  const float e = exp(-std::fabs(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/// Uses max(x, 0) + ln(1 + e^-|x|).
BOCHNER_INLINE float softplus(float x) {
  const float e = exp(-std::fabs(x));
  const float exponent = e > 1.0f / 3.0f ? 1.0f : 0.0f;
  const float f = (e - exponent) * (exponent == 0.0f ? 1.0f : 0.5f);
  return (x > 0.0f ? x : 0.0f) + detail::join_logarithm(f, exponent);
}

/// Uses x Phi(x) = max(x, 0) - |x| Phi(-|x|), slope Phi(x) + x Phi'(x); 0 from -13.243 down.
BOCHNER_INLINE void gelu(float x, float* value, float* slope) {
  constexpr float one_over_sqrt_two_pi = 0x1.988454p-2f;
  const float t = detail::at_most(detail::bell_end, std::fabs(x)), tail = detail::scaled_tail(t);
  const detail::Bell e = detail::bell(t);
  const float lost = t * tail, rise = std::fma(-one_over_sqrt_two_pi, t, tail);
  *value = std::fma(-std::fma(lost, e.fraction, lost), e.scale, x > 0.0f ? x : 0.0f);
  const float left = std::fma(rise, e.fraction, rise) * e.scale;
  *slope = x > 0.0f ? 1.0f - left : left;
}

BOCHNER_INLINE float gelu(float x) {
  float value, slope;
  gelu(x, &value, &slope);
  return value;
}

/// Returns Phi(x); 0 from -13.243 down.
BOCHNER_INLINE float normal_cdf(float x) {
  const float t = detail::at_most(detail::bell_end, std::fabs(x)), tail = detail::scaled_tail(t);
  const detail::Bell e = detail::bell(t);
  const float left = std::fma(tail, e.fraction, tail) * e.scale;
  return x > 0.0f ? 1.0f - left : left;
}

}  // namespace math
}  // namespace bochner

#undef BOCHNER_INLINE

#include <bochner/autodiff/ops/attention/delta_rule_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_rule_parts {

namespace {

/// Returns the length of a row whose squares overflow but whose length does not.
real large_length(std::size_t F, const real* x) {
  real largest = 0, square = 0;
  for (std::size_t f = 0; f < F; ++f) largest = std::max(largest, std::abs(x[f]));
  for (std::size_t f = 0; f < F; ++f) square += x[f] / largest * (x[f] / largest);
  return std::min(largest * std::sqrt(square), std::numeric_limits<real>::max());
}

void fade(std::size_t F, const real* left, real* x) {
  for (std::size_t f = 0; f < F; ++f) x[f] = faded(x[f], left[f]);
}

void add_scaled(std::size_t F, real factor, const real* x, real* __restrict y) {
  for (std::size_t f = 0; f < F; ++f) y[f] += factor * x[f];
}

}  // namespace

/// NaN stays NaN.
void to_unit_length(std::size_t rows, std::size_t F, real* x, real* length) {
  constexpr real tiny = std::numeric_limits<real>::min() * 1024;
  for (std::size_t i = 0; i < rows; ++i, x += F) {
    const real square = dot_row(x, x, F);
    if (square <= std::numeric_limits<real>::max()) {
      length[i] = square > tiny ? std::sqrt(square) : real(0);
      const real factor = square > tiny ? 1 / length[i] : real(0);
      for (std::size_t f = 0; f < F; ++f) x[f] *= factor;
    } else {
      length[i] = large_length(F, x);
      for (std::size_t f = 0; f < F; ++f) x[f] /= length[i];
    }
  }
}

void from_unit_length(std::size_t rows, std::size_t F, const real* length, real* x,
                      real* gradient) {
  for (std::size_t i = 0; i < rows; ++i, x += F, gradient += F) {
    const real along = dot_row(x, gradient, F);
    const real factor = length[i] > 0 ? 1 / length[i] : real(0);
    for (std::size_t f = 0; f < F; ++f) {
      gradient[f] = factor * (gradient[f] - along * x[f]);
      x[f] *= length[i];
    }
  }
}

DeltaChunk::DeltaChunk(const Inputs& in, Arena& arena) {
  const Sizes& n = in.n;
  arena.take(2 * n.C * n.F, units);
  arena.take(2 * n.C * n.C, scores);
  arena.take(n.C * n.C, retained);
  arena.take(n.state(), state);
  arena.take(n.C * n.d, errors, written);
  arena.take(2 * n.C, lengths);
  arena.take(n.C * in.fading.width, left, passed, carry);
  arena.take(n.F, passing);
  reading = writing = units;
  if (!in.fading.rate) return;
  arena.take(2 * n.C * n.F, reading);
  arena.take(n.C * n.F, writing);
}

void DeltaChunk::load(const Inputs& in, const Place& place) {
  const Sizes& n = in.n;
  rows = place.rows;
  in.k->load(place, units, nullptr);
  in.q->load(place, units + rows * n.F, nullptr);
  if (in.reverse) {
    reverse_rows(rows, n.F, units);
    reverse_rows(rows, n.F, units + rows * n.F);
  }
  to_unit_length(2 * rows, n.F, units, lengths);
  if (in.fading.rate) fade(in, place);
  find_scores(in);
}

void DeltaChunk::weigh_pairs(const Inputs& in, real* pairs) const {
  for (std::size_t i = 0; i < 2 * rows; ++i) {
    real* row = pairs + i * in.n.C;
    const real* weight = retained + i % rows * in.n.C;
    for (std::size_t j = 0; j < rows; ++j) row[j] = weight[j] > 0 ? weight[j] * row[j] : real(0);
    if (i < rows) row[i] = 0;
  }
}

void DeltaChunk::write(const Inputs& in, const Place& place, bool for_queries, real* past) {
  const Sizes& n = in.n;
  gemm((for_queries ? 2 : 1) * rows, n.d, n.F, {reading, n.F}, {state, n.d}, 0, past, n.d);
  for (std::size_t i = 0; i < rows; ++i) {
    const real* v = in.v + in.token(place, i) * n.d;
    place.prefetch_next(i, v, n.H * n.d, n.d);
    for (std::size_t e = 0; e < n.d; ++e) errors[i * n.d + e] = v[e] - past[i * n.d + e];
  }
  for (std::size_t j = 0; j < rows; ++j) {
    const real strength = in.strength[in.token(place, j)];
    real* correction = written + j * n.d;
    for (std::size_t e = 0; e < n.d; ++e) correction[e] = strength * errors[j * n.d + e];
    for (std::size_t i = j + 1; i < rows; ++i)
      subtract_row(scores[i * n.C + j], correction, n.d, errors + i * n.d);
  }
}

void DeltaChunk::add_to(const Inputs& in, real* to) const {
  add_product(in, {writing, in.n.F, transposed}, rows, written, to);
}

void DeltaChunk::add_readings(const Inputs& in, const real* x, real* to) const {
  add_product(in, {reading, in.n.F, transposed}, 2 * rows, x, to);
}

void DeltaChunk::add_product(const Inputs& in, const Operand& features, std::size_t count,
                             const real* x, real* to) const {
  const Sizes& n = in.n;
  const real* keep = passed + (rows - 1) * in.fading.width;
  const bool by_channel = in.fading.rate && in.fading.width > 1;
  if (by_channel) scale_rows(n.F, n.d, keep, to);
  const real factor = in.fading.rate && !by_channel ? *keep : real(1);
  gemm(n.F, n.d, count, features, {x, n.d}, factor, to, n.d);
}

/// Multiplies per-token decays: differences of cumulative rates would lose digits after a long gap.
void DeltaChunk::fade(const Inputs& in, const Place& place) {
  const std::size_t w = in.fading.width, F = in.n.F;
  for (std::size_t i = 0; i < rows; ++i) {
    const real* rate = in.rates(place, i);
    for (std::size_t f = 0; f < w; ++f) {
      left[i * w + f] = math::exp(-rate[f]);
      passed[i * w + f] = faded(i > 0 ? passed[(i - 1) * w + f] : real(1), left[i * w + f]);
    }
  }
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t f = 0; f < w; ++f)
      carry[i * w + f] =
          i + 1 < rows ? faded(carry[(i + 1) * w + f], left[(i + 1) * w + f]) : real(1);
  }
  std::copy_n(units, 2 * rows * F, reading);
  std::copy_n(units, rows * F, writing);
  scale_channels(rows, F, w, passed, reading);
  scale_channels(rows, F, w, passed, reading + rows * F);
  scale_channels(rows, F, w, carry, writing);
}

void DeltaChunk::find_scores(const Inputs& in) {
  const Sizes& n = in.n;
  if (in.fading.rate && in.fading.width > 1) return pairs(n).find_scores(scores);
  for (std::size_t i = 0; i < rows; ++i) {
    real* row = retained + i * n.C;
    const real* before = retained + (i > 0 ? i - 1 : 0) * n.C;
    for (std::size_t j = 0; j < i; ++j)
      row[j] = in.fading.rate ? faded(before[j], left[i]) : real(1);
    row[i] = 1;
    std::fill(row + i + 1, row + rows, real(0));
  }
  gemm(2 * rows, rows, n.F, {units, n.F}, {units, n.F, transposed}, 0, scores, n.C);
  weigh_pairs(in, scores);
}

/// Decays the key from token to token; never forms quotients of decays, which could overflow.
void ChannelPairs::find_scores(real* scores) const {
  const real* queries = units + rows * F;
  for (std::size_t j = 0; j < rows; ++j) {
    std::copy_n(units + j * F, F, passing);
    for (std::size_t i = 0; i < rows; ++i) {
      if (i > j) fade(F, left + i * F, passing);
      scores[i * C + j] = i > j ? dot_row(units + i * F, passing, F) : real(0);
      scores[(rows + i) * C + j] = i >= j ? dot_row(queries + i * F, passing, F) : real(0);
    }
  }
}

void ChannelPairs::differentiate(const real* slopes, real* reading, real* writing) const {
  const real *queries = units + rows * F, *query_slopes = slopes + rows * C;
  for (std::size_t j = 0; j < rows; ++j) {
    std::copy_n(units + j * F, F, passing);
    for (std::size_t i = j + 1; i < rows; ++i) {
      fade(F, left + i * F, passing);
      add_scaled(F, slopes[i * C + j], passing, reading + i * F);
      add_scaled(F, query_slopes[i * C + j], passing, reading + (rows + i) * F);
    }
    std::fill_n(passing, F, real(0));
    for (std::size_t i = rows; i-- > j + 1;) {
      add_scaled(F, slopes[i * C + j], units + i * F, passing);
      add_scaled(F, query_slopes[i * C + j], queries + i * F, passing);
      fade(F, left + i * F, passing);
    }
    add_scaled(F, 1, passing, writing + j * F);
  }
}

}  // namespace delta_rule_parts
}  // namespace bochner::inline BOCHNER_PRECISION

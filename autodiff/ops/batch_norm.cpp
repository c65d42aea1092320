#include <bochner/autodiff/cross_shard_reduction.hpp>
#include <bochner/autodiff/ops/gradient_sums.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Rows of x (.., D) without padding. Work is divided among them, so that padding changes no sum.
struct UnpaddedRows {
  std::size_t count, D;
  bool are_all;                              ///< no lengths were given
  std::vector<std::size_t> places;           ///< indices of the rows, if lengths were given
  CrossShardReduction* reduction = nullptr;  ///< null if the batch is not split
  std::size_t operator[](std::size_t i) const { return are_all ? i : places[i]; }

  /// Returns `columns` sums over the rows; add(row, sums) adds one row.
  template <class Add>
  std::vector<double> sums(std::size_t columns, const Add& add) const {
    return parallel_sums(columns, count, std::max<std::size_t>(64, row_grain(count, D)),
                         [&](std::size_t begin, std::size_t end, double* sums) {
                           for (std::size_t i = begin; i < end; ++i) add((*this)[i], sums);
                         });
  }
  /// Replaces sums over this shard by sums over all shards.
  void all_reduce(std::vector<double>& sums) const {
    if (reduction) reduction->all_reduce(sums);
  }
  std::size_t count_of_batch() const {
    std::vector<double> sum = {double(count)};
    all_reduce(sum);
    return std::size_t(sum[0]);
  }
  template <class Body>
  void each(const Body& body) const {
    parallel_rows(count, D, [&](std::size_t i) { body((*this)[i]); });
  }
};

UnpaddedRows rows_of(const Var& x, const std::vector<std::size_t>& lengths) {
  if (lengths.empty()) return {row_count(x.shape()), x.dim(-1), true, {}};
  require(x.rank() == 3 && lengths.size() == x.dim(0), "batch_norm",
          "lengths (B) must match x (B, T, D): ", lengths.size(), " lengths for x ", x.shape());
  UnpaddedRows rows{0, x.dim(2), false, {}};
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    require(lengths[b] <= x.dim(1), "batch_norm", "a length must be at most T = ", x.dim(1),
            ", not ", lengths[b]);
    for (std::size_t t = 0; t < lengths[b]; ++t) rows.places.push_back(b * x.dim(1) + t);
  }
  rows.count = rows.places.size();
  return rows;
}

/// Takes two passes: the variance loses nothing to a large mean.
BatchMoments moments_of(const real* x, const UnpaddedRows& rows) {
  const std::size_t D = rows.D, n = rows.count_of_batch();
  const auto mean_of = [n, &rows](std::vector<double> sums) {
    rows.all_reduce(sums);
    for (double& sum : sums) sum /= double(std::max<std::size_t>(1, n));
    return sums;
  };
  BatchMoments moments{n, {}, {}};
  moments.mean = mean_of(rows.sums(D, [=](std::size_t row, double* sums) {
    for (std::size_t j = 0; j < D; ++j) sums[j] += double(x[row * D + j]);
  }));
  moments.variance =
      mean_of(rows.sums(D, [&, mean = moments.mean.data()](std::size_t row, double* sums) {
        for (std::size_t j = 0; j < D; ++j) {
          const double away = double(x[row * D + j]) - mean[j];
          sums[j] += away * away;
        }
      }));
  return moments;
}

/// Computes xhat = (x - mean) rstd per channel in double: a large mean would cost digits.
struct ChannelUnits {
  std::vector<double> mean, rstd;
  ChannelUnits(const BatchMoments& moments, real epsilon) : mean(moments.mean) {
    for (const double variance : moments.variance)
      rstd.push_back(1 / std::sqrt(variance + double(epsilon)));
  }
  real of(real x, std::size_t j) const { return real((double(x) - mean[j]) * rstd[j]); }
};

/// Returns the sums over rows of g xhat (D) and of g (D).
std::vector<double> gradient_sums(const real* x, const UnpaddedRows& rows,
                                  const ChannelUnits& units, const real* g) {
  const std::size_t D = rows.D;
  return rows.sums(2 * D, [=, &units](std::size_t row, double* sums) {
    const real *from = x + row * D, *gradient = g + row * D;
    for (std::size_t j = 0; j < D; ++j) {
      sums[j] += double(gradient[j] * units.of(from[j], j));
      sums[D + j] += double(gradient[j]);
    }
  });
}

/// Computes dx = gain rstd (g - mean g - xhat mean(g xhat)), means over n rows. `dx` may be `g`.
void values_backward(const real* x, const real* gain, const UnpaddedRows& rows, double n,
                     const ChannelUnits& units, const std::vector<double>& sums, const real* g,
                     real* dx) {
  const std::size_t D = rows.D;
  std::vector<real> factor(D), along(D), level(D);
  for (std::size_t j = 0; j < D; ++j) {
    factor[j] = gain[j] * real(units.rstd[j]);
    along[j] = real(sums[j] / n);
    level[j] = real(sums[D + j] / n);
  }
  rows.each([&](std::size_t row) {
    const real *from = x + row * D, *gradient = g + row * D;
    real* to = dx + row * D;
    for (std::size_t j = 0; j < D; ++j)
      to[j] = factor[j] * (gradient[j] - level[j] - units.of(from[j], j) * along[j]);
  });
}

void batch_backward(const Var& x, const Var& gain, const Var& bias, const UnpaddedRows& rows,
                    std::size_t tokens, const ChannelUnits& units, Tensor& g) {
  std::vector<double> sums = gradient_sums(x.data(), rows, units, g.data());
  add_sums(gain, sums.data());
  add_sums(bias, sums.data() + rows.D);
  rows.all_reduce(sums);  // after the gradients of gain and bias, which are this shard's
  if (!x.needs_gradient()) return;
  Tensor dx = rows.are_all ? std::move(g) : zeros(x.shape());
  const real* gradients = rows.are_all ? dx.data() : g.data();
  const double n = double(std::max<std::size_t>(1, tokens));
  values_backward(x.data(), gain.data(), rows, n, units, sums, gradients, dx.data());
  x.add_gradient(std::move(dx));
}

}  // namespace

Var batch_norm(const Var& x, const Var& gain, const Var& bias,
               const std::vector<std::size_t>& lengths,
               const std::function<void(const BatchMoments&)>& learned, real epsilon) {
  require(x.rank() >= 1 && gain.shape() == Shape{x.dim(-1)} && bias.shape() == gain.shape(),
          "batch_norm", "gain and bias must be (D) for x (.., D): x ", x.shape(), ", gain ",
          gain.shape(), ", bias ", bias.shape());
  UnpaddedRows rows = rows_of(x, lengths);
  if (const Tape* tape = gain.tape()) rows.reduction = tape->reduction;
  BatchMoments moments = moments_of(x.data(), rows);
  ChannelUnits units(moments, epsilon);
  Tensor y = unwritten(x.shape(), lengths.empty());
  const std::size_t D = rows.D;
  rows.each([&](std::size_t row) {
    const real *from = x.data() + row * D, *by = gain.data(), *plus = bias.data();
    real* to = y.data() + row * D;
    for (std::size_t j = 0; j < D; ++j) to[j] = units.of(from[j], j) * by[j] + plus[j];
  });
  // Fixed parameters and constants alone record no backward pass, which would call it.
  const bool records = x.needs_gradient() || gain.needs_gradient() || bias.needs_gradient();
  if (learned && !records && gain.tape() && gain.tape()->recording && gain.tape()->training)
    learned(moments);
  return record("batch_norm", std::move(y), {x, gain, bias},
                [=, moments = std::move(moments), units = std::move(units)](Tensor& g) {
                  if (learned) learned(moments);
                  batch_backward(x, gain, bias, rows, moments.tokens, units, g);
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION

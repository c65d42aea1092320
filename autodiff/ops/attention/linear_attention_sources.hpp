#pragma once
/// Sources of the features of a chunk of tokens, which also receive their gradients.

#include <bochner/autodiff/ops/features.hpp>
#include <bochner/base/processor/prefetch.hpp>
#include <cstddef>
#include <limits>
#include <memory>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {

/// Log weight of nothing: exp(nothing - x) = 0, yet exp(nothing - nothing) = 1, not NaN.
inline constexpr real nothing = std::numeric_limits<real>::lowest();

/// Computes exp(x - max x) in place and returns the maximum.
real exponentiate(real* x, std::size_t n);

/// Tokens first .. first + rows of one head.
struct Place {
  std::size_t b, h, first, rows;
  std::ptrdiff_t ahead = 0;   ///< token offset of the place that is read next
  std::size_t next_rows = 0;  ///< rows of that place, 0 if none

  /// Returns this place with `next` to prefetch, unless it is the same place.
  Place before(const Place& next) const {
    if (next.first == first) return *this;
    return {b, h, first, rows, std::ptrdiff_t(next.first) - std::ptrdiff_t(first), next.rows};
  }
  /// Prefetches row i of the next place while row i, at `row`, is read: hardware does not foresee
  /// short pieces `stride` apart, and a processor drops most of many simultaneous requests.
  void prefetch_next(std::size_t i, const real* row, std::size_t stride,
                     std::size_t columns) const {
    if (i < next_rows) prefetch_into_second_cache(row + ahead * std::ptrdiff_t(stride), columns);
  }
};

/// Features of queries or keys. Different heads or sequences may load() and store() concurrently.
class FeatureSource {
 public:
  virtual ~FeatureSource() = default;
  /// Loads features: row i (F) times exp(log_scale_i); for logarithmic features its largest element
  /// is 1. `log_scale` is null where a row factor cancels. A source with several groups has one
  /// scale per group, (rows, groups), and a 1 in each.
  virtual void load(const Place& place, real* features, real* log_scale) const = 0;
  /// Prepares for store(). Tokens never stored have zero gradient, unless `of_all_tokens` promises
  /// that all are stored. store() of different spans of `span` tokens may run concurrently.
  virtual void expect_gradients(bool of_all_tokens, std::size_t span) = 0;
  /// Stores `gradient` by the rows that load() gave, and overwrites it. slope_i is the derivative
  /// by log_scale_i; null where it is zero.
  virtual void store(const Place& place, const real* features, real* gradient, real* slope) = 0;
  /// Adds the gradients to the inputs.
  virtual void flush_gradients() = 0;
};

/// Creates a source. `chunk`: most rows of a place; `groups`: groups of the base of products.
std::unique_ptr<FeatureSource> make_source(const Features& features, std::size_t chunk,
                                           std::size_t groups = 1);

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION

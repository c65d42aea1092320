#pragma once
/// Where features of a chunk of tokens come from, and where their gradient goes.

#include <bochner/autodiff/compute/prefetch.hpp>
#include <bochner/autodiff/ops/features.hpp>
#include <cstddef>
#include <limits>
#include <memory>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {

/// The logarithm of no weight at all: exp(nothing - x) = 0, yet exp(nothing - nothing) = 1, not
/// NaN.
inline constexpr real nothing = std::numeric_limits<real>::lowest();

/// exp(x - max x) in place. Returns the maximum.
real exponentiate(real* x, std::size_t n);

/// Tokens first .. first + rows of one head.
struct Place {
  std::size_t b, h, first, rows;
  std::ptrdiff_t ahead = 0;   ///< tokens to the place that is read next
  std::size_t next_rows = 0;  ///< its rows, 0 if there is none

  /// The same with `next` read after it; itself if that is this one.
  Place before(const Place& next) const {
    if (next.first == first) return *this;
    return {b, h, first, rows, std::ptrdiff_t(next.first) - std::ptrdiff_t(first), next.rows};
  }
  /// While row i is read, at `row`, asks for that of the next place: rows `stride` apart are short
  /// pieces that no hardware sees coming, and of many requests at once a processor forgets most.
  void prefetch_next(std::size_t i, const real* row, std::size_t stride,
                     std::size_t columns) const {
    if (i < next_rows) prefetch_into_second_cache(row + ahead * std::ptrdiff_t(stride), columns);
  }
};

/// Features of one side, queries or keys. load() and store() of different heads or sequences may
/// run at the same time.
class FeatureSource {
 public:
  virtual ~FeatureSource() = default;
  /// Row i (F) of `features` times exp(log_scale_i) are the features of token i, and its largest
  /// element is 1 where they were logarithms. `log_scale` is null where a factor of the row
  /// cancels. A source of several groups has a scale for each, (rows, groups), and a 1 in each.
  virtual void load(const Place& place, real* features, real* log_scale) const = 0;
  /// Before the first store(). Tokens that are never stored have a gradient of zero unless all of
  /// them are promised. store() of different spans of `span` tokens may run at the same time.
  virtual void expect_gradients(bool of_all_tokens, std::size_t span) = 0;
  /// `gradient` with respect to the rows that load() gave, and overwritten here. slope_i is the
  /// derivative with respect to log_scale_i; null where it is zero.
  virtual void store(const Place& place, const real* features, real* gradient, real* slope) = 0;
  /// Gives the gradients to the inputs.
  virtual void hand_over() = 0;
};

/// `chunk`: the most rows of a place. `groups`: into which the base of products falls.
std::unique_ptr<FeatureSource> make_source(const Features& features, std::size_t chunk,
                                           std::size_t groups = 1);

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION

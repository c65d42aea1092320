#pragma once
#include <bochner/layers/convolutions/filter_bank.hpp>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

/// Features of a series that arrives row by row: those of FilterBank::features() for the rows so
/// far, up to rounding. Work and memory of a row are constant. A missing value repeats the last one
/// of its channel, since the next one is not known.
class FilterBankStream {
 public:
  /// Starts a series. Uses the filters as they are now; the bank must outlive the stream. Throws
  /// std::invalid_argument for standardize = "series", which needs all rows.
  explicit FilterBankStream(FilterBank& bank);
  /// Adds a row. (channels)
  void push(std::span<const float> row);
  std::size_t rows() const { return rows_; }
  /// Returns the features of the rows so far, of which there must be one. (1, size)
  Tensor features() const;

 private:
  /// A scale: the last signals of its groups, and the sums over its responses.
  struct Scale {
    std::size_t window = 0, ahead = 0;  ///< rows of a filter, and those after its middle
    std::size_t seen = 0;               ///< signals
    std::vector<real> ring;             ///< (window, groups)
    std::vector<FilterTotals> totals;   ///< (groups, 8)
  };
  void push_signal(std::size_t scale, std::span<const real> signal);
  /// Adds the responses whose last row is `last`, of signals of which `seen` exist.
  void add_responses(std::size_t scale, std::size_t last, std::size_t seen,
                     std::vector<FilterTotals>& totals) const;

  FilterBank& bank_;
  std::vector<real> filters_;  // (scales, groups, taps, 8)
  std::vector<Scale> scales_;
  std::vector<float> first_;         // (channels)
  std::vector<real> last_, signal_;  // (channels), (groups)
  std::size_t rows_ = 0;
};

}  // namespace bochner::inline BOCHNER_PRECISION

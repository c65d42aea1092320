#pragma once
/// Pooled responses of competing filters, softened so that gradients reach the filters.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Series by channel.
struct SeriesChannels {
  std::size_t channels = 1;
  std::vector<std::vector<real>> values = {};  ///< of each series: (channels, rows)

  std::size_t rows(std::size_t series) const { return values[series].size() / channels; }
};

/// The pools of soft_filter_pools(), in their order.
enum class FilterPool { wins, least, above, largest, mean };
inline constexpr std::size_t filter_pools = 5;

/// Returns means over the rows of responses y of groups of eight filters: y times the softmax of y
/// / temperature over the group, that softmax of -y, the sigmoid of (y - threshold) / temperature;
/// the largest y; and y. A group sees the sum of the channels by its weights, at a dilation, with
/// zeros around a series. filters (groups, 8, taps), weights (groups, channels), thresholds (groups
/// 8), temperatures (groups) -> (series, 5, groups 8). No gradient of the series.
Var soft_filter_pools(const Var& filters, const Var& weights,
                      const std::shared_ptr<const SeriesChannels>& series, std::size_t dilation,
                      const Tensor& thresholds, const Tensor& temperatures);

}  // namespace bochner::inline BOCHNER_PRECISION

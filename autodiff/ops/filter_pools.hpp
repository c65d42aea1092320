#pragma once
/// Pooled responses of competing filters, softened so that gradients reach the filters.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Signals that groups of filters see, for each series and each group.
struct GroupSignals {
  std::size_t series = 0, groups = 0, dilation = 1;
  std::vector<std::size_t> rows = {};          ///< of the responses to a series
  std::vector<std::vector<real>> values = {};  ///< (series, groups): rows + (taps - 1) dilation
};

/// The pools of soft_filter_pools(), in their order.
enum class FilterPool { wins, least, above, largest, mean };
inline constexpr std::size_t filter_pools = 5;

/// Returns means over the rows of responses y of groups of eight filters: y times the softmax of y
/// / temperature over the group, that softmax of -y, the sigmoid of (y - threshold) / temperature;
/// the largest y; and y. filters (groups, 8, taps), thresholds (groups 8), temperatures (groups) ->
/// (series, 5, groups 8). No gradient of the signals.
Var soft_filter_pools(const Var& filters, const std::shared_ptr<const GroupSignals>& signals,
                      const Tensor& thresholds, const Tensor& temperatures);

}  // namespace bochner::inline BOCHNER_PRECISION

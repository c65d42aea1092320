#pragma once
/// Statistics of samples: scatter, confidence intervals, bootstrap.

#include <bochner/base/numeric/quantile.hpp>
#include <cstddef>
#include <functional>

namespace bochner {

double mean_of(const std::vector<double>& numbers);
/// Returns the sum of squared differences to the mean, and the root of their mean.
double scatter_of(const std::vector<double>& numbers);
double deviation_of(const std::vector<double>& numbers);

/// Mean with half the width of its 95 % confidence interval by Student's t.
struct Interval {
  double mean = 0, half_width = 0;
};
Interval confidence_interval(const std::vector<double>& numbers);

/// Statistic of n rows with its 95 % interval by the percentile bootstrap over 2000 resamples of n
/// rows; for skewed statistics and ratios. Efron, 1979.
struct Resampled {
  double value = 0, low = 0, high = 0;
};
Resampled bootstrap(std::size_t n,
                    const std::function<double(const std::vector<std::size_t>& rows)>& figure);
/// Returns by how much the mean of `after` is below that of `before`, both over the same rows.
Resampled reduction(const std::vector<double>& before, const std::vector<double>& after);

}  // namespace bochner

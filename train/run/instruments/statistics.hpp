#pragma once
/// What a few numbers say of the many that they were drawn from.

#include <bochner/base/numeric/quantile.hpp>
#include <cstddef>
#include <functional>
#include <vector>

namespace bochner {

double mean_of(const std::vector<double>& numbers);
/// Sum of squared differences to the mean, and the root of their mean.
double scatter_of(const std::vector<double>& numbers);
double deviation_of(const std::vector<double>& numbers);

/// Mean with half the width of its 95 % confidence interval by Student's t.
struct Interval {
  double mean = 0, half_width = 0;
};
Interval confidence_interval(const std::vector<double>& numbers);

/// A figure of n rows with its 95 % interval by the percentile bootstrap: the figure of 2000 sets
/// of n rows, drawn with replacement. For what is skewed or a ratio. Efron, 1979.
struct Resampled {
  double value = 0, low = 0, high = 0;
};
Resampled bootstrap(std::size_t n,
                    const std::function<double(const std::vector<std::size_t>& rows)>& figure);
/// By how much the mean of `after` is below that of `before`, both of the same rows.
Resampled reduction(const std::vector<double>& before, const std::vector<double>& after);

}  // namespace bochner

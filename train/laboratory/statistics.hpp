#pragma once
/// What a few numbers say of the many that they were drawn from.

#include <vector>

namespace bochner {

double mean_of(const std::vector<double>& numbers);
/// Sum of squared differences to the mean, and the root of their mean.
double scatter_of(const std::vector<double>& numbers);
double deviation_of(const std::vector<double>& numbers);

double median(std::vector<double> numbers);
/// The number below which a part of them lies, 0 <= part <= 1; 0 of none.
double quantile(std::vector<double> numbers, double part);

/// Mean with half the width of its 95 % confidence interval by Student's t.
struct Interval {
  double mean = 0, half_width = 0;
};
Interval confidence_interval(const std::vector<double>& numbers);

}  // namespace bochner

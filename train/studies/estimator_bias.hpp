#pragma once
/// Whether an estimator is biased, by its deviations over seeds.

#include <bochner/train/studies/study.hpp>
#include <vector>

namespace bochner {

/// Estimates of one m. (seed, pair)
using Estimates = std::vector<std::vector<double>>;

/// Mean over pairs of each seed's relative deviation. A pair counts by the inverse of its variance,
/// known beforehand: by that of the measured one a skewed estimate would look biased.
std::vector<double> deviations_of(const Estimates& values, const std::vector<double>& kernel,
                                  const std::vector<double>& known);
/// Of each m less those of the others, seed by seed: a mean that holds an estimate's own draws
/// would hide its bias. Empty for an m alone. (m, seed) -> (m, seed)
std::vector<std::vector<double>> less_others(const std::vector<std::vector<double>>& deviations,
                                             const std::vector<std::size_t>& m);
/// Their mean; in standard errors if there are two or more. Nothing if there are none.
void summarize_bias(ErrorAtM& row, const std::vector<double>& deviations);

}  // namespace bochner

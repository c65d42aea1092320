#pragma once
/// Bias of an estimator, from its deviations over seeds.

#include <bochner/train/studies/study.hpp>
#include <vector>

namespace bochner {

/// Estimates at one m. (seed, pair)
using Estimates = std::vector<std::vector<double>>;

/// Returns the mean over pairs of each seed's relative deviation. Pairs are weighted by the inverse
/// of their theoretical variance: with the measured variance a skewed estimate would look biased.
std::vector<double> deviations_of(const Estimates& values, const std::vector<double>& kernel,
                                  const std::vector<double>& known);
/// Returns the deviations of each m less those of the others, seed by seed: a mean that includes an
/// estimate's own draws would hide its bias. Empty for a single m. (m, seed) -> (m, seed)
std::vector<std::vector<double>> less_others(const std::vector<std::vector<double>>& deviations,
                                             const std::vector<std::size_t>& m);
/// Sets the bias to the mean deviation, if any, and in standard errors if there are two or more.
void summarize_bias(ErrorAtM& row, const std::vector<double>& deviations);

}  // namespace bochner

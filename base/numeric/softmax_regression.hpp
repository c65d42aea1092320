#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace bochner {

/// Rows of features with their classes. The last feature is 1, for the biases.
struct ClassedFeatures {
  std::size_t features = 0, classes = 0;  ///< F, K
  std::vector<double> values = {};        ///< (n, F)
  std::vector<std::size_t> labels = {};   ///< (n)

  std::size_t size() const { return labels.size(); }
  ClassedFeatures rows(const std::vector<std::size_t>& chosen) const;
};

/// Returns the probabilities of the classes by weights (F, K), (n, K).
std::vector<double> softmax_probabilities(std::size_t features, std::size_t classes,
                                          std::span<const double> values,
                                          std::span<const double> weights);

/// Returns the mean of -ln p(class of the row).
double log_loss(const std::vector<double>& probabilities, const std::vector<std::size_t>& labels);

/// Minimises log_loss() + penalty / 2 |weights|^2, without that of the biases, by L-BFGS from
/// `weights` (F, K).
std::vector<double> fit_softmax(const ClassedFeatures& rows, double penalty,
                                std::vector<double> weights);

}  // namespace bochner

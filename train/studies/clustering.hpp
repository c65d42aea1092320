#pragma once
/// Clusters of the rows of a table: methods, the choice of the number of components on held-out
/// rows, and a page with pictures.

#include <bochner/layers/probability/gaussian_mixture.hpp>
#include <bochner/train/charts/page.hpp>
#include <functional>
#include <string>
#include <vector>

namespace bochner {

struct ClusteringOptions {
  std::string method = "em";
  std::size_t components = 0;  ///< 0: as many as held-out rows choose, of 1 to `most`
  std::size_t most = 8;
  std::size_t factors = 1;   ///< of ppca
  double concentration = 1;  ///< of variational and dirichlet
  std::uint64_t seed = 1;
};

/// Components by share, largest first, and the posterior of the labels of any rows.
struct Clustering {
  std::vector<GaussianComponent> components;
  std::function<LabelPosterior(const WeightedRows&)> posterior;
};

struct ClusteringMethod {
  const char *name, *help;
  bool takes_missing;  ///< whether rows may have missing entries
  bool finds_number;   ///< whether it needs no number of components
  Clustering (*fit)(const WeightedRows& rows, std::size_t components,
                    const ClusteringOptions& options);
};
const std::vector<ClusteringMethod>& clustering_methods();
/// Throws std::invalid_argument with all names if there is none of this name.
const ClusteringMethod& clustering_method(const std::string& name);

/// Held-out log likelihood of a number of components in nats a row, and how far it is below the
/// best one; each with its standard error over the rows.
struct HeldOutScore {
  std::size_t components;
  double mean, error, below_best = 0, below_error = 0;
};
/// Fits to four fifths of the rows and scores the rest, for each fifth, or for one of more than
/// 5000 rows; with 1 to `most` components or with options.components. A method that finds the
/// number has one score of 0 components.
std::vector<HeldOutScore> held_out_scores(const WeightedRows& rows,
                                          const ClusteringOptions& options);
/// Returns the fewest components that are within a standard error of the best. Hastie, Tibshirani,
/// Friedman, "The elements of statistical learning", 2009, section 7.10.
std::size_t chosen_components(const std::vector<HeldOutScore>& scores);

/// A table with columns of mean 0 and deviation 1, its clusters and their labels.
struct ClusteredTable {
  std::string name;
  std::vector<std::string> columns;     ///< (d)
  std::vector<double> mean, deviation;  ///< (d) of the columns before
  WeightedRows rows;
  std::string method;
  std::vector<HeldOutScore> scores;
  Clustering clustering;
  LabelPosterior posterior;         ///< of the rows
  std::vector<std::size_t> labels;  ///< (n) most probable components
};
/// Fits and labels the rows.
void fit_clusters(ClusteredTable& table, const ClusteringOptions& options);
/// Returns how many rows have each label. -> (K)
std::vector<std::size_t> label_counts(const ClusteredTable& table);
/// Returns a sentence about the number of components and why it was chosen.
std::string choice_in_words(const ClusteredTable& table, const ClusteringOptions& options);
/// Components and their means in the units of the columns.
Table component_table(const ClusteredTable& table);
Page clustering_page(const ClusteredTable& table, const std::string& choice);

}  // namespace bochner

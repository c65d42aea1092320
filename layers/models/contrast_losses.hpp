#pragma once
/// Losses of contrastive learning, for two views of examples and for views and prototypes.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Divides rows by their lengths. (.., D) -> (.., D)
Var unit_rows(const Var& x);

/// Returns the cosines between views of unit length over the temperature, -1e9 on the diagonal;
/// rows are the first views of B examples, then the second. (2 B, E) -> (2 B, 2 B)
Var view_similarities(const Var& views, double temperature);
/// Returns the index of each view's other view. -> (2 B)
Indices partners(std::size_t B);
/// Computes InfoNCE: the mean of -ln softmax of the similarity to the other view among all 2 B - 1
/// others. (2 B, E) -> (). Chen et al., "A simple framework for contrastive learning of visual
/// representations", 2020, equation 1.
Var info_nce(const Var& views, double temperature);

/// Computes the mean over views of -ln softmax over clusters of v . c / phi at the view's label.
/// Views and centres (K, E) have unit length; centres get no gradient. (n, E), (K, E), (K), (n) ->
/// (). Li et al., "Prototypical contrastive learning", 2021, equation 11, over all clusters.
Var prototype_nce(const Var& views, const Tensor& centres, const Tensor& concentrations,
                  const Indices& labels);

}  // namespace bochner::inline BOCHNER_PRECISION

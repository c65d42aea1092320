#pragma once
/// Losses of contrastive learning: of two views of examples, and of views and prototypes.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Rows divided by their lengths. (.., D) -> (.., D)
Var unit_rows(const Var& x);

/// Cosines between all views over the temperature, -1e9 on the diagonal. Of rows of unit length,
/// the first views of B examples and then the second ones. (2 B, E) -> (2 B, 2 B)
Var view_similarities(const Var& views, double temperature);
/// Where the other view of each is. -> (2 B)
Indices partners(std::size_t B);
/// InfoNCE, the mean over both views of -ln softmax of the similarity to the other view among all
/// 2 B - 1 others. (2 B, E) -> (). Chen et al., "A simple framework for contrastive learning of
/// visual representations", 2020, equation 1.
Var info_nce(const Var& views, double temperature);

/// The mean over views of -ln softmax over clusters of v . c / phi at the view's own. Views and
/// centres (K, E) have unit length; no gradient reaches the centres. (n, E), (K, E), (K), (n) ->
/// (). Li et al., "Prototypical contrastive learning", 2021, equation 11, over all clusters.
Var prototype_nce(const Var& views, const Tensor& centres, const Tensor& concentrations,
                  const Indices& labels);

}  // namespace bochner::inline BOCHNER_PRECISION

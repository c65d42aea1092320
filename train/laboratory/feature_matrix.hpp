#pragma once
/// Features as matrices of one head, with the products that studies are made of.

#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Features of one head times exp(log_unit): logarithms are exponentiated relative to their
/// largest, so that no norm overflows.
struct FeatureMatrix {
  Tensor values;        ///< (T, F)
  double log_unit = 0;  ///< 0 for features that are no logarithms
};

/// Head h of the first example. (B, T, H, F) -> (T, F)
FeatureMatrix feature_matrix(const Features& features, std::size_t head);
/// Of queries and keys (1, T, H, d), evaluated: one entry for each head.
struct HeadFeatures {
  FeatureMatrix q, k;
};
std::vector<HeadFeatures> head_features(FeatureMap& map, const Tensor& q, const Tensor& k);
/// All pairs in units of exp(q.log_unit + k.log_unit). (T, F), (S, F) -> (T, S)
Tensor products(const FeatureMatrix& q, const FeatureMatrix& k);
/// Element by element.
FeatureMatrix squared(const FeatureMatrix& features);
/// Head h of the first example as it is. (B, T, H, d) -> (T, d)
Tensor head_rows(const Tensor& x, std::size_t head);
/// At most so many of the first positions of the first example. (B, T, H, d) -> (1, T', H, d)
Tensor first_positions(const Tensor& x, std::size_t positions);
/// Rows first, first + 1, ..., at most `count`. (n, d) -> (count, d)
Tensor rows_from(const Tensor& matrix, std::size_t first, std::size_t count);
/// (n, d) -> (1, n, 1, d)
Tensor as_tokens(const Tensor& rows);

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Queries and keys that a kernel is studied on, and their features as matrices of one head.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <string>
#include <vector>

namespace bochner {

/// Rows that are compared with each other: queries and keys of one head.
struct SampleBlock {
  Tensor q, k;  ///< (n, d), (n', d)
};

struct KernelSample {
  std::string name;  ///< "1000 queries and keys of N(0, 1)"
  std::vector<SampleBlock> blocks;
  std::size_t dim() const { return blocks.front().q.shape()[1]; }
};

/// Independent rows of N(0, scale^2 I).
KernelSample normal_sample(std::size_t n, std::size_t d, std::uint64_t seed, double scale = 1);
/// The first `rows` queries and keys of each block.
KernelSample first_rows(const KernelSample& sample, std::size_t rows);
/// Matrices (n, d) and (n', d) of two .npy files. Throws DataError when their d differ.
KernelSample sample_of_files(const std::string& queries, const std::string& keys);
/// At most `most` rows of (B, T, H, d), evenly spaced, one block for each head.
KernelSample sample_of_heads(const std::string& name, const Tensor& q, const Tensor& k,
                             std::size_t most);

/// One query and one key of a block, and both rows in double, for closed forms.
struct SamplePair {
  std::size_t block, query, key;
  std::vector<double> q, k;
};
SamplePair pair_of(const KernelSample& sample, std::size_t block, std::size_t query,
                   std::size_t key);
/// Spread over the sample by a fixed rule.
std::vector<SamplePair> choose_pairs(const KernelSample& sample, std::size_t count);

/// A row in double.
std::vector<double> row_of(const Tensor& rows, std::size_t row);
/// q . k / sqrt(d), the logarithm of softmax's kernel.
double softmax_exponent(const std::vector<double>& q, const std::vector<double>& k);

/// Features of one head times exp(log_unit): logarithms are exponentiated relative to their
/// largest, so that no norm overflows.
struct FeatureMatrix {
  Tensor values;        ///< (T, F)
  double log_unit = 0;  ///< 0 for features that are no logarithms
};
/// Of queries and keys (1, T, H, d), evaluated: one entry for each head.
struct HeadFeatures {
  FeatureMatrix q, k;
};
std::vector<HeadFeatures> head_features(FeatureMap& map, const Tensor& q, const Tensor& k);
/// All pairs in units of exp(q.log_unit + k.log_unit). (T, F), (S, F) -> (T, S)
Tensor products(const FeatureMatrix& q, const FeatureMatrix& k);
/// Of each feature, in the square of the unit.
FeatureMatrix squared(const FeatureMatrix& features);

/// Head h of the first example as it is. (B, T, H, d) -> (T, d)
Tensor head_rows(const Tensor& x, std::size_t head);
/// At most so many of the first positions of the first example. (B, T, H, d) -> (1, T', H, d)
Tensor first_positions(const Tensor& x, std::size_t positions);
/// Rows first, first + 1, ..., at most `count`. (n, d) -> (count, d)
Tensor rows_from(const Tensor& matrix, std::size_t first, std::size_t count);
/// (n, d) -> (1, n, 1, d)
Tensor as_tokens(const Tensor& rows);
/// What `forward` computes where no gradients are wanted.
Tensor evaluated(const std::function<Var(Tape&)>& forward);

}  // namespace bochner

#pragma once
/// Samples of queries and keys to study a kernel on, and their features as matrices of one head.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <string>
#include <vector>

namespace bochner {

/// Queries and keys of one head, which are compared with each other.
struct SampleBlock {
  Tensor q, k;  ///< (n, d), (n', d)
};

struct KernelSample {
  std::string name;  ///< "1000 queries and keys of N(0, 1)"
  std::vector<SampleBlock> blocks;
  std::size_t dim() const { return blocks.front().q.shape()[1]; }
};

KernelSample normal_sample(std::size_t n, std::size_t d, std::uint64_t seed, double scale = 1);
/// Returns the first `rows` queries and keys of each block.
KernelSample first_rows(const KernelSample& sample, std::size_t rows);
/// Reads matrices (n, d) and (n', d) from two .npy files. Throws DataError if their d differ.
KernelSample sample_of_files(const std::string& queries, const std::string& keys);
/// Selects at most `most` evenly spaced rows of (B, T, H, d), one block per head.
KernelSample sample_of_heads(const std::string& name, const Tensor& q, const Tensor& k,
                             std::size_t most);

/// Query and key of a block, and both rows in double, for closed forms.
struct SamplePair {
  std::size_t block, query, key;
  std::vector<double> q, k;
};
SamplePair pair_of(const KernelSample& sample, std::size_t block, std::size_t query,
                   std::size_t key);
/// Chooses pairs that are spread over the sample by a fixed rule.
std::vector<SamplePair> choose_pairs(const KernelSample& sample, std::size_t count);

std::vector<double> row_of(const Tensor& rows, std::size_t row);
/// Returns q . k / sqrt(d), the logarithm of softmax's kernel.
double softmax_exponent(const std::vector<double>& q, const std::vector<double>& k);

/// Features of one head times exp(log_unit): log-features are exponentiated relative to their
/// largest, so that no norm overflows.
struct FeatureMatrix {
  Tensor values;        ///< (T, F)
  double log_unit = 0;  ///< 0 unless features are logarithms
};
/// Features of queries and keys (1, T, H, d) at evaluation, one entry per head.
struct HeadFeatures {
  FeatureMatrix q, k;
};
std::vector<HeadFeatures> head_features(FeatureMap& map, const Tensor& q, const Tensor& k);
/// Returns all products in units of exp(q.log_unit + k.log_unit). (T, F), (S, F) -> (T, S)
Tensor products(const FeatureMatrix& q, const FeatureMatrix& k);
/// Returns the square of each feature, in the square of the unit.
FeatureMatrix squared(const FeatureMatrix& features);

/// Returns head h of the first example. (B, T, H, d) -> (T, d)
Tensor head_rows(const Tensor& x, std::size_t head);
/// Returns the first positions of the first example. (B, T, H, d) -> (1, <= positions, H, d)
Tensor first_positions(const Tensor& x, std::size_t positions);
/// Returns rows first, first + 1, ..., at most `count`. (n, d) -> (count, d)
Tensor rows_from(const Tensor& matrix, std::size_t first, std::size_t count);
/// Reshapes rows to tokens. (n, d) -> (1, n, 1, d)
Tensor as_tokens(const Tensor& rows);
/// Returns what `forward` computes without recording gradients.
Tensor evaluated(const std::function<Var(Tape&)>& forward);

}  // namespace bochner

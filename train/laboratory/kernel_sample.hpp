#pragma once
/// Queries and keys that a kernel is studied on.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

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

/// One query and one key of a block, spread over the sample by a fixed rule.
struct SamplePair {
  std::size_t block, query, key;
};
std::vector<SamplePair> choose_pairs(const KernelSample& sample, std::size_t count);

/// A row in double, for closed forms; both rows of a pair.
std::vector<double> row_of(const Tensor& rows, std::size_t row);
struct PairRows {
  std::vector<double> q, k;
};
PairRows rows_of(const KernelSample& sample, const SamplePair& pair);
/// q . k / sqrt(d), the logarithm of softmax's kernel.
double softmax_exponent(const std::vector<double>& q, const std::vector<double>& k);
/// Whether the kernel of q and k is that of softmax.
bool is_near_softmax(double kernel, const std::vector<double>& q, const std::vector<double>& k);

}  // namespace bochner::inline BOCHNER_PRECISION

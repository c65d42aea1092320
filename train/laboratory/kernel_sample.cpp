#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/train/laboratory/feature_matrix.hpp>
#include <bochner/train/laboratory/kernel_sample.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Tensor normal_rows(std::size_t n, std::size_t d, double scale, const RandomFunction& random) {
  Tensor rows = uninitialized({n, d});
  for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = real(scale * random.normal(i));
  return rows;
}

/// (T, d) -> (at most `most`, d), evenly spaced.
Tensor thinned(const Tensor& rows, std::size_t most) {
  const std::size_t n = rows.shape()[0], d = rows.shape()[1], kept = std::min(n, most);
  Tensor y = uninitialized({kept, d});
  for (std::size_t i = 0; i < kept; ++i)
    std::copy_n(rows.data() + i * n / kept * d, d, y.data() + i * d);
  return y;
}

Tensor matrix_of(const std::string& file) { return xt::cast<real>(read_npy(file)); }

}  // namespace

KernelSample normal_sample(std::size_t n, std::size_t d, std::uint64_t seed, double scale) {
  const RandomFunction queries{seed, Purpose::sampling, stream_of("queries")};
  const RandomFunction keys{seed, Purpose::sampling, stream_of("keys")};
  return {fmt::format("{} queries and keys of N(0, {:.3g})", n, scale * scale),
          {{normal_rows(n, d, scale, queries), normal_rows(n, d, scale, keys)}}};
}

KernelSample first_rows(const KernelSample& sample, std::size_t rows) {
  KernelSample part{sample.name, {}};
  for (const SampleBlock& block : sample.blocks)
    part.blocks.push_back({rows_from(block.q, 0, rows), rows_from(block.k, 0, rows)});
  return part;
}

KernelSample sample_of_files(const std::string& queries, const std::string& keys) {
  SampleBlock block{matrix_of(queries), matrix_of(keys)};
  if (block.q.shape()[1] != block.k.shape()[1])
    throw DataError(
        fmt::format("{}: rows of {} numbers, those of {} have {}; a query and a key "
                    "must be of equal size",
                    keys, block.k.shape()[1], queries, block.q.shape()[1]));
  std::string name = fmt::format("{} queries of {}, {} keys of {}", block.q.shape()[0], queries,
                                 block.k.shape()[0], keys);
  return {std::move(name), {std::move(block)}};
}

KernelSample sample_of_heads(const std::string& name, const Tensor& q, const Tensor& k,
                             std::size_t most) {
  KernelSample sample{name, {}};
  const std::size_t H = q.shape()[2];
  for (std::size_t h = 0; h < H; ++h)
    sample.blocks.push_back(
        {thinned(head_rows(q, h), most / H), thinned(head_rows(k, h), most / H)});
  return sample;
}

std::vector<SamplePair> choose_pairs(const KernelSample& sample, std::size_t count) {
  const RandomFunction random{1, Purpose::sampling, stream_of("pairs")};
  std::vector<SamplePair> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t block = i % sample.blocks.size();
    const auto& [q, k] = sample.blocks[block];
    pairs.push_back(
        {block, random.integer(2 * i, q.shape()[0]), random.integer(2 * i + 1, k.shape()[0])});
  }
  return pairs;
}

std::vector<double> row_of(const Tensor& rows, std::size_t row) {
  const std::size_t d = rows.shape()[1];
  return {rows.data() + row * d, rows.data() + (row + 1) * d};
}

PairRows rows_of(const KernelSample& sample, const SamplePair& pair) {
  const auto& [q, k] = sample.blocks[pair.block];
  return {row_of(q, pair.query), row_of(k, pair.key)};
}

double softmax_exponent(const std::vector<double>& q, const std::vector<double>& k) {
  double dot = 0;
  for (std::size_t i = 0; i < q.size(); ++i) dot += q[i] * k[i];
  return dot / std::sqrt(double(q.size()));
}

bool is_near_softmax(double kernel, const std::vector<double>& q, const std::vector<double>& k) {
  return std::fabs(kernel / std::exp(softmax_exponent(q, k)) - 1) < 1e-6;
}

}  // namespace bochner::inline BOCHNER_PRECISION

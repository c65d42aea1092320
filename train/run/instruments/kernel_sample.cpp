#include <fmt/format.h>

#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <cmath>

namespace bochner {
namespace {

Tensor normal_rows(std::size_t n, std::size_t d, double scale, const RandomFunction& random) {
  Tensor rows = uninitialized({n, d});
  for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = real(scale * random.normal(i));
  return rows;
}

/// Selects evenly spaced rows. (T, d) -> (at most `most`, d)
Tensor thinned(const Tensor& rows, std::size_t most) {
  const std::size_t n = rows.shape()[0], d = rows.shape()[1], kept = std::min(n, most);
  Tensor y = uninitialized({kept, d});
  for (std::size_t i = 0; i < kept; ++i)
    std::copy_n(rows.data() + i * n / kept * d, d, y.data() + i * d);
  return y;
}

Tensor matrix_of(const std::string& file) { return xt::cast<real>(read_npy(file)); }

/// Throws unless the features are (1, T, H, F), F > 0, of x (1, T, H, d).
void require_features(const Shape& features, const Shape& x) {
  require(features.size() == 4 && std::equal(x.begin(), x.end() - 1, features.begin()) &&
              features[3] > 0,
          "features", "must be (B, T, H, F), F > 0: ", features, " of ", x);
}

/// Returns the features of head h of the first example. (B, T, H, F) -> (T, F)
FeatureMatrix feature_matrix(const Features& features, std::size_t head) {
  FeatureMatrix matrix{head_rows(features.values().value(), head)};
  if (features.scale == FeatureScale::linear) return matrix;
  real* values = matrix.values.data();
  const std::size_t n = matrix.values.size();
  matrix.log_unit = double(*std::max_element(values, values + n));
  for (std::size_t i = 0; i < n; ++i) values[i] = std::exp(values[i] - real(matrix.log_unit));
  return matrix;
}

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
        fmt::format("{}: has rows of {} numbers, {} has rows of {}; queries and keys "
                    "must have equal sizes",
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

SamplePair pair_of(const KernelSample& sample, std::size_t block, std::size_t query,
                   std::size_t key) {
  const auto& [q, k] = sample.blocks[block];
  return {block, query, key, row_of(q, query), row_of(k, key)};
}

std::vector<SamplePair> choose_pairs(const KernelSample& sample, std::size_t count) {
  const RandomFunction random{1, Purpose::sampling, stream_of("pairs")};
  std::vector<SamplePair> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t block = i % sample.blocks.size();
    const auto& [q, k] = sample.blocks[block];
    pairs.push_back(pair_of(sample, block, random.integer(2 * i, q.shape()[0]),
                            random.integer(2 * i + 1, k.shape()[0])));
  }
  return pairs;
}

std::vector<double> row_of(const Tensor& rows, std::size_t row) {
  const std::size_t d = rows.shape()[1];
  return {rows.data() + row * d, rows.data() + (row + 1) * d};
}

double softmax_exponent(const std::vector<double>& q, const std::vector<double>& k) {
  double dot = 0;
  for (std::size_t i = 0; i < q.size(); ++i) dot += q[i] * k[i];
  return dot / std::sqrt(double(q.size()));
}

std::vector<HeadFeatures> head_features(FeatureMap& map, const Tensor& q, const Tensor& k) {
  Tape tape({.recording = false});
  const Features queries = map.queries(tape, tape.view(q)), keys = map.keys(tape, tape.view(k));
  const Shape of_q = queries.shape(), of_k = keys.shape();
  require_features(of_q, q.shape());
  require_features(of_k, k.shape());
  require(of_q[3] == of_k[3], "features", "queries and keys must have equally many: ", of_q[3],
          " and ", of_k[3]);
  std::vector<HeadFeatures> heads;
  for (std::size_t h = 0; h < q.shape()[2]; ++h)
    heads.push_back({feature_matrix(queries, h), feature_matrix(keys, h)});
  return heads;
}

Tensor products(const FeatureMatrix& q, const FeatureMatrix& k) {
  const std::size_t T = q.values.shape()[0], S = k.values.shape()[0], F = q.values.shape()[1];
  Tensor y = uninitialized({T, S});
  parallel_gemm(T, S, F, {q.values.data(), F}, {k.values.data(), F, transposed}, 0, y.data(), S);
  return y;
}

FeatureMatrix squared(const FeatureMatrix& features) {
  return {Tensor(features.values * features.values), 2 * features.log_unit};
}

Tensor head_rows(const Tensor& x, std::size_t head) {
  const std::size_t T = x.shape()[1], H = x.shape()[2], d = x.shape()[3];
  Tensor rows = uninitialized({T, d});
  for (std::size_t t = 0; t < T; ++t)
    std::copy_n(x.data() + (t * H + head) * d, d, rows.data() + t * d);
  return rows;
}

Tensor first_positions(const Tensor& x, std::size_t positions) {
  Tensor y = uninitialized({1, std::min(positions, x.shape()[1]), x.shape()[2], x.shape()[3]});
  std::copy_n(x.data(), y.size(), y.data());
  return y;
}

Tensor rows_from(const Tensor& matrix, std::size_t first, std::size_t count) {
  const std::size_t n = matrix.shape()[0], d = matrix.shape()[1];
  Tensor y = uninitialized({std::min(count, n - first), d});
  std::copy_n(matrix.data() + first * d, y.size(), y.data());
  return y;
}

Tensor as_tokens(const Tensor& rows) {
  Tensor tokens = rows;
  tokens.reshape(Shape{1, rows.shape()[0], 1, rows.shape()[1]});
  return tokens;
}

Tensor evaluated(const std::function<Var(Tape&)>& forward) {
  Tape tape({.recording = false});
  return forward(tape).value();
}

}  // namespace bochner

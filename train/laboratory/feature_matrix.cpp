#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/train/laboratory/feature_matrix.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

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

FeatureMatrix feature_matrix(const Features& features, std::size_t head) {
  FeatureMatrix matrix{head_rows(features.values().value(), head)};
  if (features.scale == FeatureScale::linear) return matrix;
  real* values = matrix.values.data();
  const std::size_t n = matrix.values.size();
  matrix.log_unit = double(*std::max_element(values, values + n));
  for (std::size_t i = 0; i < n; ++i) values[i] = std::exp(values[i] - real(matrix.log_unit));
  return matrix;
}

std::vector<HeadFeatures> head_features(FeatureMap& map, const Tensor& q, const Tensor& k) {
  Tape tape;
  tape.recording = false;
  const Features queries = map.queries(tape, tape.view(q)), keys = map.keys(tape, tape.view(k));
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

}  // namespace bochner::inline BOCHNER_PRECISION

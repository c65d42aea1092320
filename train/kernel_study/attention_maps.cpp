#include <algorithm>
#include <bochner/autodiff/compute/reduce.hpp>
#include <bochner/train/kernel_study/attention_maps.hpp>
#include <bochner/train/kernel_study/feature_matrix.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// (B, T, H, d) -> (1, positions, H, d)
Tensor first_positions(const Tensor& x, std::size_t positions) {
  Tensor y = uninitialized({1, std::min(positions, x.shape()[1]), x.shape()[2], x.shape()[3]});
  std::copy_n(x.data(), y.size(), y.data());
  return y;
}

/// Multiplies by exp(-(rate_(j+1) + .. + rate_i)): the time kernel between tokens of the first
/// sequence at irregular distances. rate (B, T, H)
void decay_by_gaps(Tensor& weights, const Tensor& rate, std::size_t head) {
  const std::size_t T = weights.shape()[0], H = rate.shape()[2];
  std::vector<double> lost(T);
  for (std::size_t t = 1; t < T; ++t) lost[t] = lost[t - 1] + double(rate.data()[t * H + head]);
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = 0; j < T; ++j)
      weights.data()[i * T + j] *= real(std::exp(-std::fabs(lost[i] - lost[j])));
}

}  // namespace

Tensor softmax_weights(const Tensor& q, const Tensor& k) {
  Tensor weights = products({q}, {k});
  const std::size_t T = q.shape()[0], S = k.shape()[0];
  const real scale = 1 / std::sqrt(real(q.shape()[1]));
  for (std::size_t i = 0; i < T; ++i) {
    real* row = weights.data() + i * S;
    const real top = max_row(row, S);
    for (std::size_t j = 0; j < S; ++j) row[j] = std::exp(scale * (row[j] - top));
  }
  return weights;
}

void normalize_attention(Tensor& weights, double rate, bool causal) {
  const std::size_t T = weights.shape()[0], S = weights.shape()[1];
  for (std::size_t i = 0; i < T; ++i) {
    real* row = weights.data() + i * S;
    double sum = 0;
    for (std::size_t j = 0; j < S; ++j) {
      const double lag = std::fabs(double(i) - double(j));
      row[j] = causal && j > i ? real(0) : row[j] * real(std::exp(-rate * lag));
      sum += double(row[j]);
    }
    if (sum == 0) continue;
    for (std::size_t j = 0; j < S; ++j) row[j] = real(double(row[j]) / sum);
  }
}

std::vector<AttentionMaps> attention_maps(const AttentionLayer& layer,
                                          const AttentionSample& sample, std::size_t positions) {
  Tape tape;
  tape.recording = false;
  const Tensor q = first_positions(sample.q, positions), k = first_positions(sample.k, positions);
  std::vector<AttentionMaps> heads(q.shape()[2]);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const bool irregular = sample.rate.dimension() == 3;
    const double rate = sample.rate.dimension() == 1 ? double(sample.rate.data()[h]) : 0;
    heads[h].exact = softmax_weights(head_rows(q, h), head_rows(k, h));
    if (irregular) decay_by_gaps(heads[h].exact, sample.rate, h);
    normalize_attention(heads[h].exact, rate, sample.causal);
    if (!layer.features) continue;
    const Features queries = layer.features->queries(tape, tape.view(q));
    const Features keys = layer.features->keys(tape, tape.view(k));
    heads[h].estimated = products(feature_matrix(queries, h), feature_matrix(keys, h));
    if (irregular) decay_by_gaps(heads[h].estimated, sample.rate, h);
    normalize_attention(heads[h].estimated, rate, sample.causal);
  }
  return heads;
}

std::vector<double> weight_by_lag(const Tensor& weights) {
  const std::size_t T = weights.shape()[0];
  std::vector<double> mean(T);
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      mean[i - j] += double(weights.data()[i * T + j]) / double(T - (i - j));
  return mean;
}

double total_variation(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(double(a.data()[i] - b.data()[i]));
  return a.size() == 0 ? 0 : sum / 2 / double(a.shape()[0]);
}

}  // namespace bochner::inline BOCHNER_PRECISION

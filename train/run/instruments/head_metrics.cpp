#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/head_metrics.hpp>
#include <bochner/train/storage/json.hpp>
#include <numeric>

namespace bochner {
namespace {

struct HeadNumber {
  const char* name;
  double HeadMetrics::*value;
};
constexpr HeadNumber head_numbers[] = {{"entropy", &HeadMetrics::entropy},
                                       {"estimated_entropy", &HeadMetrics::estimated_entropy},
                                       {"effective_features", &HeadMetrics::effective_features},
                                       {"rank", &HeadMetrics::rank},
                                       {"deviation", &HeadMetrics::deviation},
                                       {"bias", &HeadMetrics::bias}};

/// Returns the cosines between all rows; 0 for rows that vanish. (T, F) -> (T, T)
Tensor cosines_of(FeatureMatrix rows) {
  const std::size_t T = rows.values.shape()[0], F = rows.values.shape()[1];
  for (std::size_t j = 0; j < T; ++j) {
    real* row = rows.values.data() + j * F;
    const real length = std::sqrt(dot_row(row, row, F));
    for (std::size_t f = 0; f < F; ++f) row[f] = length > 0 ? row[f] / length : real(0);
  }
  return products(rows, rows);
}

/// Returns participation_ratio() from the cosines of the rows.
double ratio_of(const Tensor& cosines) {
  const double T = double(cosines.shape()[0]);
  const double squares = sum_of_squares(cosines.data(), cosines.size());
  return squares > 0 ? T * T / squares : 0;
}

/// Computes the numerical rank by a pivoted Cholesky factorization of the cosines: each column is
/// that of the row with the largest residual.
std::size_t rank_of(const Tensor& cosines) {
  const std::size_t T = cosines.shape()[0];
  std::vector<double> left(T);
  for (std::size_t t = 0; t < T; ++t) left[t] = double(cosines(t, t));
  const double all = std::accumulate(left.begin(), left.end(), 0.0);
  std::vector<std::vector<double>> columns;
  while (columns.size() < T &&
         std::accumulate(left.begin(), left.end(), 0.0) > 1e-4 * all) {  // 1 % squared
    const std::size_t most = std::size_t(std::ranges::max_element(left) - left.begin());
    std::vector<double> column(T);
    for (std::size_t t = 0; t < T; ++t) column[t] = double(cosines(t, most));
    for (const std::vector<double>& other : columns) {
      const double factor = other[most];
      for (std::size_t t = 0; t < T; ++t) column[t] -= other[t] * factor;
    }
    const double root = std::sqrt(left[most]);
    for (double& each : column) each /= root;
    for (std::size_t t = 0; t < T; ++t) left[t] = std::max(0.0, left[t] - column[t] * column[t]);
    columns.push_back(std::move(column));
  }
  return columns.size();
}

/// Returns the relative error of attention weights. All rows count alike, whatever the query's
/// norm: errors and weights are divided by the row's sum. A sum S1 of F terms with sum of squares
/// S2 has the variance F/(F-1) (S2 - S1^2/F).
double attention_error(const HeadEstimate& estimate, double F, bool causal) {
  const std::size_t T = estimate.sums.shape()[0];
  double error = 0, size = 0;
  for (std::size_t i = 0; i < T; ++i) {
    double row = 0, row_error = 0, row_size = 0;
    for (std::size_t j = 0; j < (causal ? i + 1 : T); ++j) {
      const double sum = double(estimate.sums.data()[i * T + j]);
      row += sum;
      row_size += sum * sum;
      row_error += std::max(0.0, double(estimate.squares.data()[i * T + j]) - sum * sum / F);
    }
    if (!(row > 0) || !std::isfinite(row_error) || !std::isfinite(row_size)) continue;
    error += row_error / (row * row) * F / std::max(1.0, F - 1);
    size += row_size / (row * row);
  }
  return size > 0 ? std::sqrt(error / size) : 0;
}

/// Sums of squares over all weights: of exact ones, of the estimate's error, and of the part of the
/// error that its terms explain. A sum S of F terms with sum of squares Q has the variance F / (F -
/// 1) (Q - S^2 / F).
struct Budget {
  double size = 0, error = 0, variance = 0;
};
Budget budget_of(const HeadEstimate& estimate, double F, const Tensor& exact,
                 const Tensor& factors) {
  const auto& [sums, squares] = estimate;
  const std::size_t T = sums.shape()[0], S = sums.shape()[1];
  Budget budget;
  for (std::size_t i = 0; i < T; ++i) {
    const real *sum = sums.data() + i * S, *square = squares.data() + i * S;
    const real *factor = factors.data() + i * S, *wanted = exact.data() + i * S;
    double total = 0;
    for (std::size_t j = 0; j < S; ++j) total += double(sum[j]) * double(factor[j]);
    if (!(total > 0)) continue;
    for (std::size_t j = 0; j < S; ++j) {
      const double s = double(sum[j]), scale = double(factor[j]) / total;
      const double spread = std::max(0.0, double(square[j]) - s * s / F) * F / std::max(1.0, F - 1);
      budget.size += double(wanted[j]) * double(wanted[j]);
      budget.error += std::pow(s * scale - double(wanted[j]), 2);
      budget.variance += spread * scale * scale;
    }
  }
  return budget;
}

}  // namespace

double mean_entropy(const Tensor& weights) {
  const std::size_t T = weights.shape()[0], S = weights.shape()[1];
  double mean = 0;
  for (std::size_t i = 0; i < T; ++i) {
    const real* row = weights.data() + i * S;
    double sum = 0, logs = 0;  // sums of w and of w ln w
    for (std::size_t j = 0; j < S; ++j) {
      const double w = double(row[j]);
      if (!(w > 0)) continue;
      sum += w, logs += w * std::log(w);
    }
    if (sum > 0) mean += (std::log(sum) - logs / sum) / double(T);
  }
  return mean;
}

double participation_ratio(const FeatureMatrix& rows) { return ratio_of(cosines_of(rows)); }

std::size_t numerical_rank(const FeatureMatrix& rows) { return rank_of(cosines_of(rows)); }

std::vector<HeadMetrics> head_metrics(const AttentionLayer& layer, const AttentionSample& sample,
                                      std::size_t positions) {
  if (!layer.features) return {};
  const Tensor q = first_positions(sample.q, positions), k = first_positions(sample.k, positions);
  const std::vector<HeadFeatures> features = head_features(*layer.features, q, k);
  std::vector<HeadMetrics> heads;
  for (std::size_t h = 0; h < features.size(); ++h) {
    const Tensor rows = head_rows(q, h), keys = head_rows(k, h),
                 cosines = cosines_of(features[h].k);
    const Tensor factors = time_weights(sample, h, q.shape()[1]);
    const Tensor exact = normalized_rows(softmax_weights(rows, keys) * factors);
    const HeadEstimate estimate = estimate_of(features[h], rows, keys, sample.window);
    const double F = double(features[h].q.values.shape()[1]);
    const Budget budget = budget_of(estimate, F, exact, factors);
    const double size = budget.size > 0 ? budget.size : 1;
    heads.push_back({mean_entropy(exact), mean_entropy(normalized_rows(estimate.sums * factors)),
                     ratio_of(cosines), double(rank_of(cosines)), std::sqrt(budget.variance / size),
                     std::sqrt(std::max(0.0, budget.error - budget.variance) / size),
                     attention_error(estimate, F, sample.causal)});
  }
  return heads;
}

double head_distance(SpectralDensity& density) {
  Tensor noise;
  for (const NamedTensor& buffer : buffers_of(density))
    if (buffer.name == "noise") noise = *buffer.tensor;
  const std::size_t H = noise.shape()[0];
  for (std::size_t h = 1; h < H; ++h)
    std::copy_n(noise.data(), noise.size() / H, noise.data() + h * (noise.size() / H));
  const Tensor w = evaluated([&](Tape& tape) { return density.sample(tape, tape.view(noise)); });
  const std::size_t n = w.size() / H;
  std::vector<double> distances;
  for (std::size_t a = 0; a < H; ++a)
    for (std::size_t b = a + 1; b < H; ++b) {
      double apart = 0, size = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double x = double(w.data()[a * n + i]), y = double(w.data()[b * n + i]);
        apart += (x - y) * (x - y), size += (x * x + y * y) / 2;
      }
      distances.push_back(size > 0 ? std::sqrt(apart / size) : 0);
    }
  return median(std::move(distances));
}

Json json_of(const std::vector<HeadMetrics>& heads) {
  Json json, of_heads;
  for (const auto& [name, value] : head_numbers) {
    double mean = 0;
    Json list = Json::array();
    for (const HeadMetrics& head : heads) {
      mean += head.*value / double(heads.size());
      list.push(Json::rounded(head.*value));
    }
    json.set(name, Json::rounded(mean));
    of_heads.set(name, std::move(list));
  }
  return heads.empty() ? Json() : json.set("heads", of_heads);
}

}  // namespace bochner

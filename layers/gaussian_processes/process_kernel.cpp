#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/gaussian_processes/process_kernel.hpp>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t rows_per_task = 16;
/// Added to the noise, in units of the targets' variance, as a floor of the eigenvalues.
constexpr double min_noise = 1e-10;

}  // namespace

ProcessKernel::ProcessKernel(std::vector<std::vector<double>> rows, std::vector<ProcessTerm> terms,
                             double noise_variance, std::vector<double> trend,
                             std::vector<std::size_t> sizes)
    : rows_(std::move(rows)),
      terms_(std::move(terms)),
      noise_(noise_variance),
      trend_(std::move(trend)),
      sizes_(std::move(sizes)),
      head_size_(std::accumulate(sizes_.begin(), sizes_.end(), std::size_t(0))) {
  for (const ProcessTerm& term : terms_) {
    heads_ += term.inputs.size();
    max_inputs_ = std::max(max_inputs_, term.inputs.size());
  }
}

void ProcessKernel::lags_of(const std::vector<double>& point, std::size_t input, std::size_t count,
                            double* lags) const {
  const double* column = rows_[input].data();
  for (std::size_t i = 0; i < count; ++i) lags[i] = point[input] - column[i];
}

void ProcessKernel::between(const std::vector<double>& point, std::size_t count, double* k) const {
  std::vector<double> lags(count), factor(count), product(count);
  std::fill_n(k, count, trend_.empty() ? 0.0 : trend_[0]);
  for (const ProcessTerm& term : terms_) {
    std::fill(product.begin(), product.end(), term.variance);
    for (std::size_t j = 0; j < term.inputs.size(); ++j) {
      lags_of(point, term.inputs[j], count, lags.data());
      term.curves[j]->values(count, lags.data(), factor.data());
      for (std::size_t i = 0; i < count; ++i) product[i] *= factor[i];
    }
    for (std::size_t i = 0; i < count; ++i) k[i] += product[i];
  }
  for (std::size_t j = 0; j + 1 < trend_.size(); ++j) {
    const double slope = trend_[j + 1] * point[j];
    for (std::size_t i = 0; i < count; ++i) k[i] += slope * rows_[j][i];
  }
}

double ProcessKernel::prior_variance(const std::vector<double>& point) const {
  double variance = trend_.empty() ? 0 : trend_[0];
  for (const ProcessTerm& term : terms_) variance += term.variance;
  for (std::size_t j = 0; j + 1 < trend_.size(); ++j)
    variance += trend_[j + 1] * point[j] * point[j];
  return variance;
}

void ProcessKernel::row(std::size_t i, double* numbers) const {
  between(point_of(i), i + 1, numbers);
  numbers[i] += noise_ + min_noise;
}

void ProcessKernel::pull_term(std::size_t t, std::size_t first_head,
                              const std::vector<double>& point, std::size_t count,
                              const double* weights, Scratch& scratch, double* slopes) const {
  const ProcessTerm& term = terms_[t];
  const std::size_t inputs = term.inputs.size();
  std::copy_n(weights, count, scratch.weights.data());
  for (std::size_t j = 0; j < inputs; ++j) {
    lags_of(point, term.inputs[j], count, scratch.lags.data());
    term.curves[j]->values(count, scratch.lags.data(), scratch.k[j].data());
    for (std::size_t i = 0; i < count; ++i) scratch.weights[i] *= scratch.k[j][i];
  }
  slopes[heads_ * head_size_ + t] +=
      term.variance * std::accumulate(scratch.weights.begin(),
                                      scratch.weights.begin() + std::ptrdiff_t(count), 0.0);
  for (std::size_t j = 0; j < inputs; ++j) {
    for (std::size_t i = 0; i < count; ++i) scratch.others[i] = term.variance * weights[i];
    for (std::size_t other = 0; other < inputs; ++other)
      for (std::size_t i = 0; other != j && i < count; ++i)
        scratch.others[i] *= scratch.k[other][i];
    lags_of(point, term.inputs[j], count, scratch.lags.data());
    term.curves[j]->pull_back(count, scratch.lags.data(), scratch.others.data(),
                              slopes + (first_head + j) * head_size_);
  }
}

void ProcessKernel::pull_trend(const std::vector<double>& point, std::size_t count,
                               const double* weights, double* slopes) const {
  for (std::size_t p = 0; p < trend_.size(); ++p) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += weights[i] * (p == 0 ? 1 : rows_[p - 1][i]);
    slopes[p] += trend_[p] * sum * (p == 0 ? 1 : point[p - 1]);
  }
}

std::vector<std::vector<double>> ProcessKernel::pull_back(const LowerRow& weights) const {
  const std::size_t n = size(), noise = heads_ * head_size_ + terms_.size();
  const std::size_t count = noise + 1 + trend_.size();
  const auto pull_rows = [&](std::size_t begin, std::size_t end, double* slopes) {
    Scratch scratch(end, max_inputs_);
    std::vector<double> row(end);
    for (std::size_t i = begin; i < end; ++i) {
      weights(i, row.data());
      const std::vector<double> point = point_of(i);
      for (std::size_t t = 0, head = 0; t < terms_.size(); head += terms_[t++].inputs.size())
        pull_term(t, head, point, i + 1, row.data(), scratch, slopes);
      slopes[noise] += 2 * noise_ * row[i];
      pull_trend(point, i + 1, row.data(), slopes + noise + 1);
    }
  };
  return by_parameter(parallel_sums(count, n, rows_per_task, pull_rows));
}

/// Regroups slopes by parameter, heads adjacent, from one block per head.
std::vector<std::vector<double>> ProcessKernel::by_parameter(
    const std::vector<double>& slopes) const {
  std::vector<std::vector<double>> parameters;
  std::size_t offset = 0;
  for (const std::size_t size : sizes_) {
    parameters.emplace_back();
    for (std::size_t head = 0; head < heads_; ++head) {
      const auto first = slopes.begin() + std::ptrdiff_t(head * head_size_ + offset);
      parameters.back().insert(parameters.back().end(), first, first + std::ptrdiff_t(size));
    }
    offset += size;
  }
  auto rest = slopes.begin() + std::ptrdiff_t(heads_ * head_size_);
  for (const std::size_t size : {terms_.size(), std::size_t(1), trend_.size()}) {
    parameters.emplace_back(rest, rest + std::ptrdiff_t(size));
    rest += std::ptrdiff_t(size);
  }
  return parameters;
}

}  // namespace bochner::inline BOCHNER_PRECISION

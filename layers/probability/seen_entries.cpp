#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/layers/probability/seen_entries.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <cmath>
#include <map>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Copies a submatrix. (d, d) -> (rows, columns)
std::vector<double> part_of(const std::vector<double>& matrix, std::size_t d,
                            const std::vector<std::size_t>& rows,
                            const std::vector<std::size_t>& columns) {
  std::vector<double> part;
  for (const std::size_t i : rows)
    for (const std::size_t j : columns) part.push_back(matrix[i * d + j]);
  return part;
}

}  // namespace

std::vector<SeenEntries> patterns_of(const std::vector<double>& values, std::size_t d) {
  std::map<std::vector<bool>, SeenEntries> patterns;
  std::vector<bool> missing(d);
  for (std::size_t row = 0; row < values.size() / d; ++row) {
    for (std::size_t j = 0; j < d; ++j) missing[j] = std::isnan(values[row * d + j]);
    patterns[missing].rows.push_back(row);
  }
  std::vector<SeenEntries> all;
  for (auto& [is_missing, pattern] : patterns) {
    for (std::size_t j = 0; j < d; ++j)
      (is_missing[j] ? pattern.missing : pattern.seen).push_back(j);
    all.push_back(std::move(pattern));
  }
  return all;
}

SeenGaussian::SeenGaussian(const GaussianComponent& component, const SeenEntries& entries)
    : component_(component), entries_(entries) {
  const std::size_t d = component.mean.size(), s = entries.seen.size(), m = entries.missing.size();
  factor_ = part_of(component.covariance, d, entries.seen, entries.seen);
  cholesky(s, factor_.data());
  log_scale_ = -log_determinant_of_factor(s, factor_.data()) / 2;
  std::vector<double> cross = part_of(component.covariance, d, entries.seen, entries.missing);
  missing_ = part_of(component.covariance, d, entries.missing, entries.missing);
  if (m == 0) return;
  solve_lower(s, factor_.data(), m, cross.data());
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j)
      for (std::size_t k = 0; k < s; ++k)
        missing_[i * m + j] -= cross[k * m + i] * cross[k * m + j];
  solve_lower_transposed(s, factor_.data(), m, cross.data());
  gain_.resize(m * s);
  for (std::size_t i = 0; i < m * s; ++i) gain_[i] = cross[i % s * m + i / s];
}

double SeenGaussian::log_density(const double* row) const {
  const std::size_t s = entries_.seen.size();
  std::vector<double> white(s);
  for (std::size_t i = 0; i < s; ++i) {
    white[i] = row[entries_.seen[i]] - component_.mean[entries_.seen[i]];
    for (std::size_t j = 0; j < i; ++j) white[i] -= factor_[i * s + j] * white[j];
    white[i] /= factor_[i * s + i];
  }
  return log_scale_ + log_normal_density(s, squared_length(white.data(), s));
}

void SeenGaussian::deviation(const double* row, double* y) const {
  const std::size_t s = entries_.seen.size();
  for (const std::size_t j : entries_.seen) y[j] = row[j] - component_.mean[j];
  for (std::size_t i = 0; i < entries_.missing.size(); ++i) {
    double expected = 0;
    for (std::size_t j = 0; j < s; ++j) expected += gain_[i * s + j] * y[entries_.seen[j]];
    y[entries_.missing[i]] = expected;
  }
}

void SeenGaussian::add_missing_covariance(double weight, double* squares) const {
  const std::size_t d = component_.mean.size(), m = entries_.missing.size();
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j)
      squares[entries_.missing[i] * d + entries_.missing[j]] += weight * missing_[i * m + j];
}

}  // namespace bochner::inline BOCHNER_PRECISION

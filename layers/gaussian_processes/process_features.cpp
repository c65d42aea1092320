#include <bochner/layers/gaussian_processes/process_features.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::size_t heads_of(const std::vector<std::vector<std::size_t>>& terms) {
  std::size_t heads = 0;
  for (const auto& term : terms) heads += term.size();
  return heads;
}

}  // namespace

ProcessFeatures::ProcessFeatures(std::vector<std::vector<double>> rows, Parameters parameters)
    : rows_(std::move(rows)),
      parameters_(std::move(parameters)),
      inputs_(rows_.size()),
      m_(parameters_.draws.size() / heads_of(parameters_.terms)) {
  std::vector<std::vector<std::size_t>> orders;
  for (std::size_t head = 0; head < heads_of(parameters_.terms); ++head)
    orders.push_back(Draws({0, Purpose::spectral, stream_of("order") + head}).shuffled(m_));
  orders_ = std::make_shared<const std::vector<std::vector<std::size_t>>>(std::move(orders));
}

void ProcessFeatures::phases(std::size_t t, std::size_t first_head, std::size_t row,
                             double* phase) const {
  std::fill_n(phase, m_, 0.0);
  const auto& inputs = parameters_.terms[t];
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    const double x = rows_[inputs[j]][row];
    for (std::size_t k = 0; k < m_; ++k)
      phase[k] += parameters_.draws[place(first_head + j, k)] * x;
  }
}

void ProcessFeatures::rows(std::size_t begin, std::size_t end, double* features) const {
  std::vector<double> phase(m_);
  for (std::size_t i = begin; i < end; ++i) {
    std::size_t head = 0;
    for (std::size_t t = 0; t < parameters_.terms.size(); ++t) {
      phases(t, head, i, phase.data());
      const double size = std::sqrt(parameters_.variances[t] / double(m_));
      for (std::size_t k = 0; k < m_; ++k) {
        const double cosine = std::cos(phase[k]),
                     sine = std::sin(phase[k]);  // fused by the compiler
        features[k] = size * cosine;
        features[m_ + k] = size * sine;
      }
      features += 2 * m_;
      head += parameters_.terms[t].size();
    }
    for (std::size_t p = 0; p < parameters_.trend.size(); ++p)
      *features++ = std::sqrt(parameters_.trend[p]) * (p == 0 ? 1 : rows_[p - 1][i]);
  }
}

void ProcessFeatures::pull_back(std::size_t begin, std::size_t end, const double* weights,
                                double* slopes) const {
  const std::size_t F = features();
  std::vector<double> values(F), by_phase(m_);
  double* by_variance = slopes + parameters_.draws.size();
  double* by_trend = by_variance + parameters_.terms.size();
  for (std::size_t i = begin; i < end; ++i, weights += F) {
    rows(i, i + 1, values.data());
    std::size_t head = 0, column = 0;
    for (std::size_t t = 0; t < parameters_.terms.size(); ++t, column += 2 * m_) {
      const double *cosine = values.data() + column, *sine = cosine + m_;
      const double *by_cosine = weights + column, *by_sine = by_cosine + m_;
      double sum = 0;
      for (std::size_t k = 0; k < m_; ++k) {
        by_phase[k] = by_sine[k] * cosine[k] - by_cosine[k] * sine[k];
        sum += by_cosine[k] * cosine[k] + by_sine[k] * sine[k];
      }
      by_variance[t] += sum / 2;
      for (const std::size_t input : parameters_.terms[t]) {
        const double x = rows_[input][i];
        for (std::size_t k = 0; k < m_; ++k) slopes[place(head, k)] += by_phase[k] * x;
        ++head;
      }
    }
    for (std::size_t p = 0; p < parameters_.trend.size(); ++p, ++column)
      by_trend[p] += weights[column] * values[column] / 2;
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION

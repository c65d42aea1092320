#include <algorithm>
#include <bochner/base/numeric/ridge_path.hpp>
#include <bochner/layers/estimators/estimator.hpp>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// State: the mean of each answer.
class MeanEstimator : public Estimator {
 public:
  explicit MeanEstimator(const EstimatorSpec& spec) : answers_(spec.answers()) {}

  std::size_t size() const override { return answers_; }

  bool fit(const AnsweredRows& rows, std::span<double> state) const override {
    const double n = double(rows.size());
    for (std::size_t k = 0; k < answers_; ++k)
      state[k] = std::accumulate(rows.answers[k].begin(), rows.answers[k].end(), 0.0) / n;
    return true;
  }

  RowEstimates estimate(const AnsweredRows&, std::span<const double> state,
                        const Columns& inputs) const override {
    RowEstimates estimates;
    for (const double mean : state) estimates.values.emplace_back(inputs[0].size(), mean);
    return estimates;
  }

 private:
  std::size_t answers_;
};

/// State: weights (d), then the bias.
class TableRidge : public Estimator {
 public:
  explicit TableRidge(const EstimatorSpec& spec) : inputs_(spec.inputs) {}

  std::size_t size() const override { return inputs_ + 1; }

  bool fit(const AnsweredRows& rows, std::span<double> state) const override {
    const std::size_t n = rows.size(), d = inputs_;
    std::vector<double> inputs(n * d), outputs = rows.answers[0];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < d; ++j) inputs[i * d + j] = rows.inputs[j][i];
    const std::vector<double> input_means = remove_means(inputs, d);
    const double mean = remove_means(outputs, 1)[0];
    const RidgePath path(n, d, 1, inputs, std::move(outputs));
    std::ranges::copy(path.weights(path.best_penalty()), state.begin());
    state[d] =
        mean - std::inner_product(input_means.begin(), input_means.end(), state.begin(), 0.0);
    return true;
  }

  RowEstimates estimate(const AnsweredRows&, std::span<const double> state,
                        const Columns& inputs) const override {
    RowEstimates estimates{{std::vector<double>(inputs[0].size(), state[inputs_])}};
    for (std::size_t j = 0; j < inputs_; ++j)
      for (std::size_t i = 0; i < inputs[j].size(); ++i)
        estimates.values[0][i] += state[j] * inputs[j][i];
    return estimates;
  }

 private:
  std::size_t inputs_;
};

}  // namespace

Columns rows_of(const Columns& columns, const std::vector<std::size_t>& rows) {
  Columns some;
  for (const std::vector<double>& column : columns) {
    some.emplace_back();
    for (const std::size_t row : rows) some.back().push_back(column[row]);
  }
  return some;
}

EstimatorPtr make_mean(const EstimatorSpec& spec) { return std::make_unique<MeanEstimator>(spec); }

EstimatorPtr make_table_ridge(const EstimatorSpec& spec) {
  return std::make_unique<TableRidge>(spec);
}

}  // namespace bochner::inline BOCHNER_PRECISION

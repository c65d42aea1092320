#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/train/tasks/tables/naive_regression.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t most_inputs = 1024;  // whose Gram matrix is factored in a second

double mean_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / double(numbers.size());
}

/// Linear function of inputs: level + weights . (x - centre).
struct LinearFit {
  double level;
  std::vector<double> centre, weights;

  /// Without inputs: the mean.
  explicit LinearFit(const Observations& rows) : level(mean_of(rows.targets)) {}
  LinearFit(const Observations& rows, double penalty) : LinearFit(rows) {
    const std::size_t n = rows.size(), d = rows.inputs.size();
    std::vector<double> x(n * d), gram(d * d, 0.0);
    weights.assign(d, 0.0);
    for (std::size_t j = 0; j < d; ++j) {
      centre.push_back(mean_of(rows.inputs[j]));
      for (std::size_t i = 0; i < n; ++i) {
        x[i * d + j] = rows.inputs[j][i] - centre[j];
        weights[j] += x[i * d + j] * (rows.targets[i] - level);
      }
      gram[j * d + j] = penalty;
    }
    accumulate_gram(n, d, x.data(), gram.data());
    cholesky(d, gram.data());
    solve_lower(d, gram.data(), 1, weights.data());
    solve_lower_transposed(d, gram.data(), 1, weights.data());
  }

  double predict(const Observations& rows, std::size_t i) const {
    double y = level;
    for (std::size_t j = 0; j < weights.size(); ++j)
      y += weights[j] * (rows.inputs[j][i] - centre[j]);
    return y;
  }
};

/// Appends rows with the same columns.
void append(Observations& rows, const Observations& more) {
  rows.inputs.resize(more.inputs.size());
  for (std::size_t j = 0; j < more.inputs.size(); ++j)
    rows.inputs[j].insert(rows.inputs[j].end(), more.inputs[j].begin(), more.inputs[j].end());
  rows.targets.insert(rows.targets.end(), more.targets.begin(), more.targets.end());
}

}  // namespace

Observations rows_of_examples(const TableRows& data, const HeldOut& held) {
  Observations rows;
  const TakenBatches taken = held.taken(data);
  for (std::uint64_t k = 0; k < taken.count; ++k)
    for (const Examples::Number& number : data.part(held.split, taken.index(k), held.batch).numbers)
      append(rows, data.example(held.split, number));
  return rows;
}

std::vector<Score> naive_regressions(const Observations& training, const Observations& held) {
  const auto rmse = [&](const LinearFit& fit) {
    double sum = 0;
    for (std::size_t i = 0; i < held.size(); ++i)
      sum += std::pow(held.targets[i] - fit.predict(held, i), 2);
    return std::sqrt(sum / double(held.size()));
  };
  std::vector<Score> scores = {{"mean", rmse(LinearFit(training))}};
  if (training.inputs.size() <= most_inputs) scores.push_back({"ridge", rmse({training, 1})});
  return scores;
}

}  // namespace bochner

#include <bochner/base/numeric/philox.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <numeric>

namespace bochner {

double mean_of(const std::vector<double>& numbers) {
  double mean = 0;
  for (const double number : numbers) mean += number / double(numbers.size());
  return mean;
}

double scatter_of(const std::vector<double>& numbers) {
  const double mean = mean_of(numbers);
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return squares;
}

double deviation_of(const std::vector<double>& numbers) {
  const auto is_first = [&](double number) { return number == numbers.front(); };
  if (std::ranges::all_of(numbers, is_first)) return 0;  // exactly, without rounding errors
  return std::sqrt(scatter_of(numbers) / double(numbers.size()));
}

Interval confidence_interval(const std::vector<double>& numbers) {
  const std::size_t n = numbers.size();
  if (n < 2) return {mean_of(numbers), 0};
  const double t = quantile::student(double(n - 1), 0.975);
  return {mean_of(numbers), t * std::sqrt(scatter_of(numbers) / double(n - 1) / double(n))};
}

Resampled bootstrap(std::size_t n,
                    const std::function<double(const std::vector<std::size_t>& rows)>& figure) {
  constexpr std::size_t resamples = 2000;
  const RandomFunction random{1, Purpose::sampling, stream_of("bootstrap")};
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  const double value = figure(rows);
  std::vector<double> values;
  for (std::size_t b = 0; b < resamples; ++b) {
    for (std::size_t i = 0; i < n; ++i) rows[i] = random.integer(b * n + i, n);
    values.push_back(figure(rows));
  }
  return {value, quantile_of(values, 0.025), quantile_of(values, 0.975)};
}

Resampled reduction(const std::vector<double>& before, const std::vector<double>& after) {
  return bootstrap(before.size(), [&](const std::vector<std::size_t>& rows) {
    double first = 0, last = 0;
    for (const std::size_t row : rows) first += before[row], last += after[row];
    return first > 0 ? 1 - last / first : 0;
  });
}

}  // namespace bochner

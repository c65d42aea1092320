#include <bochner/base/text.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/series/row_coverage.hpp>
#include <cmath>

namespace bochner {
namespace {

/// Returns the origins of a split by series, at least `stride` rows apart, ascending.
std::vector<std::vector<std::size_t>> origins_of(const SeriesWindows& windows, Split split,
                                                 std::size_t stride) {
  std::vector<std::vector<std::size_t>> origins(windows.count());
  for (std::uint64_t window = 0; window < windows.examples(split); ++window) {
    const auto [series, row] = windows.place(split, window);
    if (origins[series].empty() || row >= origins[series].back() + stride)
      origins[series].push_back(row);
  }
  return origins;
}

/// Returns truth minus forecasts of one variate from all origins. (n, V, H) -> (n, H)
std::vector<float> errors_of(const TimeSeries& series, const std::vector<std::size_t>& origins,
                             const Tensor& forecasts, std::size_t v) {
  const std::size_t V = series.variates(), H = forecasts.shape()[2];
  std::vector<float> errors;
  for (std::size_t i = 0; i < origins.size(); ++i)
    for (std::size_t h = 0; h < H; ++h)
      errors.push_back(
          float(series.values(v, origins[i] + h) - double(forecasts.data()[(i * V + v) * H + h])));
  return errors;
}

/// Counts of both methods over one series.
class CoveredSeries {
 public:
  CoveredSeries(const HeldOutRows& held, const SeriesWindows& windows, std::size_t number,
                double level)
      : series_(windows.series(number)),
        H_(windows.spec().horizon),
        adaptive_(held, number, series_.variates(), level) {
    for (std::size_t v = 0; v < series_.variates(); ++v)
      half_widths_.push_back(held.half_widths(number * series_.variates() + v, level));
  }

  /// forecast (V, H)
  void add(std::size_t origin, const real* forecast, const std::vector<double>& units,
           CoverageReport& report) {
    adaptive_.advance(origin, series_);
    for (std::size_t v = 0; v < series_.variates(); ++v)
      for (std::size_t h = 0; h < H_; ++h) {
        const double error = std::abs(series_.values(v, origin + h) - double(forecast[v * H_ + h]));
        count(report.methods[0], error, half_widths_[v][h], units[v]);
        count(report.methods[1], error, adaptive_.half_width(v, h), units[v]);
      }
    adaptive_.add(origin, forecast);
  }

 private:
  static void count(Coverage& coverage, double error, double half_width, double unit) {
    coverage.covered += error <= half_width;
    coverage.width += 2 * half_width / unit;
    ++coverage.terms;
  }

  const TimeSeries& series_;
  std::size_t H_;
  AdaptiveRows adaptive_;
  std::vector<std::vector<double>> half_widths_;  // (V, H)
};

}  // namespace

Calibration calibrate_rows(const SeriesWindows& windows, ForecastsSeries& model) {
  constexpr std::size_t most_origins = 1000, fewest_origins = 40, most_errors = 1000000;
  const std::size_t V = windows.series().variates(), H = windows.spec().horizon;
  const std::vector<std::vector<std::size_t>> origins = origins_of(windows, Split::validation, 1);
  demand(windows.examples(Split::validation) > 0,
         "the run has no validation rows, which intervals and p-values need; give data.splits a "
         "validation part");
  const std::size_t most =
      std::clamp(most_errors / (windows.count() * V * H), fewest_origins, most_origins);
  Calibration calibration{.leads = H};
  std::vector<std::size_t> ends;
  for (std::size_t number = 0; number < windows.count(); ++number) {
    const TimeSeries& series = windows.series(number);
    std::vector<std::size_t> some;
    for (const std::size_t i : evenly_spaced(origins[number].size(), most))
      some.push_back(origins[number][i]);
    const Tensor forecasts = some.empty() ? Tensor() : model.forecasts_of(series, number)->at(some);
    for (std::size_t v = 0; v < V; ++v)
      calibration.channels.push_back(
          {some.empty() ? std::vector<float>() : errors_of(series, some, forecasts, v)});
    ends.push_back(some.empty() ? windows.rows(Split::train, number) : some.back() + H);
  }
  set_known_rows(calibration, windows, ends);
  return calibration;
}

void set_known_rows(Calibration& calibration, const SeriesWindows& windows,
                    const std::vector<std::size_t>& ends) {
  const std::size_t V = windows.series().variates();
  for (std::size_t number = 0; number < windows.count(); ++number) {
    const TimeSeries& series = windows.series(number);
    if (!series.times.empty()) calibration.ends.push_back(series.times[ends[number] - 1]);
    for (std::size_t v = 0; v < V; ++v)
      calibration.channels[number * V + v].still = stillness_of(
          series.values.data() + v * series.rows(), windows.rows(Split::train, number));
  }
}

CoverageReport row_coverage(const Calibration& calibration, const SeriesWindows& windows,
                            Split split, double level, std::size_t stride, ForecastsSeries& model) {
  constexpr std::size_t most_at_once = 256;
  const std::size_t V = windows.series().variates(), H = windows.spec().horizon;
  const bool is_one = windows.count() * V == 1;
  const HeldOutRows held(calibration);
  const std::vector<double> deviations = windows.moments().deviation;
  CoverageReport report{is_one ? "the data" : "training deviations",
                        {{"split conformal"}, {"adaptive"}}};
  const std::vector<std::vector<std::size_t>> origins = origins_of(windows, split, stride);
  for (std::size_t number = 0; number < windows.count(); ++number) {
    if (origins[number].empty()) continue;
    const std::vector<double> units =
        is_one ? std::vector<double>{1}
               : std::vector<double>(deviations.begin() + std::ptrdiff_t(number * V),
                                     deviations.begin() + std::ptrdiff_t(number * V + V));
    CoveredSeries covered(held, windows, number, level);
    const auto forecasts = model.forecasts_of(windows.series(number), number);
    for (std::size_t first = 0; first < origins[number].size(); first += most_at_once) {
      const std::size_t end = std::min(origins[number].size(), first + most_at_once);
      const std::vector<std::size_t> some(origins[number].begin() + std::ptrdiff_t(first),
                                          origins[number].begin() + std::ptrdiff_t(end));
      const Tensor values = forecasts->at(some);
      for (std::size_t i = 0; i < some.size(); ++i)
        covered.add(some[i], values.data() + i * V * H, units, report);
    }
  }
  demand(report.methods[0].terms > 0, "--coverage: the {} split has no windows", name_of(split));
  return report;
}

}  // namespace bochner

#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/tasks/forecast_report.hpp>
#include <bochner/train/tasks/forecast_task.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t shown_windows = 3, shown_variates = 3, batch_size = 64;

/// `count` of n things, spread evenly with both ends, or all of them.
std::vector<std::size_t> spread(std::size_t n, std::size_t count) {
  count = std::min(n, count);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i)
    chosen.push_back(count == 1 ? 0 : i * (n - 1) / (count - 1));
  return chosen;
}

/// Elements of variate v of window 0 of (B, V, n), from `first` on.
std::vector<double> variate(const Tensor& x, std::size_t v, std::size_t first = 0) {
  const real* row = x.data() + v * x.shape()[2];
  return std::vector<double>(row + first, row + x.shape()[2]);
}

/// Sums of errors at each step of the horizon. (B, V, H), (B, V, H)
void add_errors(HorizonErrors& errors, const Tensor& forecast, const Tensor& truth) {
  const std::size_t H = errors.squared.size();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = double(forecast.data()[i]) - double(truth.data()[i]);
    errors.squared[i % H] += error * error;
    errors.absolute[i % H] += std::abs(error);
  }
}

/// The last row of each window, H times. (B, V, L) -> (B, V, H)
Tensor persistence(const Tensor& past, std::size_t H) {
  const std::size_t L = past.shape()[2];
  Tensor forecast = uninitialized({past.shape()[0], past.shape()[1], H});
  for (std::size_t i = 0; i < forecast.size(); ++i)
    forecast.data()[i] = past.data()[i / H * L + L - 1];
  return forecast;
}

}  // namespace

std::vector<ForecastPicture> ForecastTask::pictures(Split split, std::size_t window) {
  const SeriesBatch batch = windows_.batch(windows_.in_order(split, window, 1));
  Tensor past = batch.past;
  model_.standardize().apply(past);
  Tensor future = forecast(past);
  model_.standardize().undo(future);
  const std::size_t seen = std::min(spec_.lookback, 2 * spec_.horizon);
  const std::vector<std::string>& names = windows_.series().names;
  std::vector<ForecastPicture> pictures;
  for (const std::size_t v : spread(spec_.variates, shown_variates)) {
    const std::string name = names.empty() ? fmt::format("variate {}", v + 1) : names[v];
    pictures.push_back(
        {fmt::format("{} from row {}", name, windows_.first_predicted(split, window) + 1),
         variate(batch.past, v, spec_.lookback - seen), variate(batch.future, v),
         variate(future, v)});
  }
  return pictures;
}

std::vector<HorizonErrors> ForecastTask::horizon_errors(Split split) {
  const std::size_t H = spec_.horizon, windows = windows_.examples(split);
  const std::vector<double> none(H, 0.0);
  std::vector<HorizonErrors> errors = {{"forecast", none, none}, {"last value", none, none}};
  for (std::uint64_t index = 0; index < windows_.batches(split, batch_size); ++index) {
    const SeriesBatch batch = standardized(windows_.batch(windows_.part(split, index, batch_size)));
    add_errors(errors[0], forecast(batch.past), batch.future);
    add_errors(errors[1], persistence(batch.past, H), batch.future);
  }
  for (HorizonErrors& each : errors)
    for (std::vector<double>* sums : {&each.squared, &each.absolute})
      for (double& sum : *sums) sum /= double(windows * spec_.variates);
  return errors;
}

void ForecastTask::illustrate(Page& page) {
  const Split split = windows_.examples(Split::test) > 0 ? Split::test : Split::validation;
  if (windows_.examples(split) == 0) return;
  std::vector<std::vector<ForecastPicture>> shown;
  for (const std::size_t window : spread(windows_.examples(split), shown_windows))
    shown.push_back(pictures(split, window));
  page.section("Forecasts",
               fmt::format("Windows of the {} split, in the unit of the data.", name_of(split)));
  add_forecasts(page, shown);
  page.section("Errors by row of the horizon",
               fmt::format("Over all {} windows of the {} split, in the unit of the training data.",
                           windows_.examples(split), name_of(split)));
  add_horizon_errors(page, horizon_errors(split));
}

}  // namespace bochner::inline BOCHNER_PRECISION

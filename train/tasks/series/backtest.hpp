#pragma once
/// Rolling origins: what a forecaster says of stretches of a series, one after the other, beside
/// forecasts that cost nothing. Tashman, "Out-of-sample tests of forecasting accuracy", 2000.

#include <bochner/data/dataset.hpp>
#include <string>
#include <vector>

namespace bochner {

struct BacktestPlan {
  Split split = Split::test;
  std::size_t origins = 0;  ///< the last ones of each series; 0 for all
  std::size_t stride = 0;   ///< rows from one to the next at least; 0 for the horizon
  std::size_t season = 0;   ///< rows after which a series repeats; 0: what its time stamps suggest
};

/// Sums over the values of one origin, for each row of the horizon. (H)
struct OriginErrors {
  std::vector<double> squared, absolute;
  std::vector<double> scaled;   ///< |e| in units of the seasonal difference of the training rows
  std::vector<double> pinball;  ///< mean over the levels
};

struct Backtest {
  struct Forecast {
    std::string name;
    std::vector<OriginErrors> origins = {};
  };
  std::string unit;  ///< of the errors: a variate, or "" for deviations of the training rows
  std::size_t horizon = 0, stride = 0, season = 1;
  bool has_quantiles = false;              ///< else there is no pinball loss
  std::vector<std::string> starts = {};    ///< of the origins: times or rows
  std::vector<double> values = {};         ///< of each origin in a row of the horizon
  std::vector<double> scaled_values = {};  ///< those of them whose training rows change
  std::vector<Forecast> forecasts = {};    ///< the model's, the last value, the last season
};

}  // namespace bochner

#pragma once
/// Backtests at rolling origins, compared with naive forecasts. Tashman, "Out-of-sample tests of
/// forecasting accuracy", 2000.

#include <bochner/data/dataset.hpp>
#include <string>
#include <vector>

namespace bochner {

struct BacktestPlan {
  Split split = Split::test;
  std::size_t origins = 0;  ///< the last ones of each series; 0 for all
  std::size_t stride = 0;   ///< rows between origins, at least; 0 for the horizon
  std::size_t season = 0;   ///< rows after which a series repeats; 0: from its time stamps
};

/// Sums of errors over the values of one origin, for each row of the horizon. (H)
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
  std::string unit;  ///< of the errors: a variate, or "" for training standard deviations
  std::size_t horizon = 0, stride = 0, season = 1;
  bool has_quantiles = false;              ///< whether there is a pinball loss
  std::vector<std::string> starts = {};    ///< times or row numbers of the origins
  std::vector<double> values = {};         ///< number of values by origin, in a row of the horizon
  std::vector<double> scaled_values = {};  ///< those whose seasonal difference is not 0
  std::vector<Forecast> forecasts = {};    ///< model, last value, last season
};

}  // namespace bochner

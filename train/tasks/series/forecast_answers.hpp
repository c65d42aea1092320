#pragma once
#include <bochner/train/tasks/series/forecast_requests.hpp>
#include <functional>

namespace bochner {

/// Returns the forecasts of the H rows after a request and their quantiles. (H, V, Q)
using ForecastOf = std::function<Tensor(const ForecastRequest&)>;

/// Answers tables of series by forecasts of H rows each.
class SeriesAnswers {
 public:
  SeriesAnswers(const Config& config, const SeriesFacts& facts)
      : rules_(request_rules(config, facts)) {}
  const RequestRules& rules() const { return rules_; }

  /// Answers with `rows` rows after each series; 0 for H. Rows after H are recursive: forecasts are
  /// appended to their series, and the distances of quantiles from the middle one are root sums of
  /// squares with those of the last row before, as for a random walk.
  void forecast_rows(std::size_t rows) { rows_ = rows; }
  /// Returns the table of forecasts. `endings`: of the names of the Q columns; `middle`: the column
  /// that is appended. Throws DataError like forecast_requests(), and for recursion with covariates
  /// or rows to forecast.
  NamedArray answer(const NamedArray& question, const ForecastOf& forecast,
                    const std::vector<std::string>& endings, std::size_t middle);
  /// Returns notes on the last answer.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void require_rows(const ForecastRequest& request) const;
  Tensor recursive(ForecastRequest& request, const ForecastOf& forecast, std::size_t middle) const;

  RequestRules rules_;
  std::size_t rows_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace bochner

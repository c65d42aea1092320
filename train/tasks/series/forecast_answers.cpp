#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/train/tasks/series/forecast_answers.hpp>
#include <cmath>

namespace bochner {
namespace {

/// Widens the quantiles of forecasts (rows, V, Q) from row `first` on by those of the row before.
void widen(Tensor& forecasts, std::size_t first, std::size_t end, std::size_t middle) {
  const std::size_t V = forecasts.shape()[1], Q = forecasts.shape()[2];
  const real* before = forecasts.data() + (first - 1) * V * Q;
  for (std::size_t i = first * V; i < end * V; ++i) {
    real* row = forecasts.data() + i * Q;
    for (std::size_t q = 0; q < Q; ++q) {
      const real* last = before + i % V * Q;
      const real distance = row[q] - row[middle];
      row[q] = row[middle] + std::copysign(std::hypot(distance, last[q] - last[middle]), distance);
    }
  }
}

}  // namespace

void SeriesAnswers::require_rows(const ForecastRequest& request) const {
  if (request.asked)
    throw DataError("the input has rows to forecast at its end; remove them, or --steps");
  if (rows_ > rules_.windows.horizon && rules_.columns.covariates() > 0)
    throw DataError("--steps ", rows_, ": this model has covariates, so that it forecasts at most ",
                    rules_.windows.horizon, " rows");
}

Tensor SeriesAnswers::recursive(ForecastRequest& request, const ForecastOf& forecast,
                                std::size_t middle) const {
  require_rows(request);
  const std::size_t H = rules_.windows.horizon;
  ForecastRequest next = request;
  Tensor answer = forecast(next);
  const std::size_t V = answer.shape()[1], Q = answer.shape()[2];
  Tensor all = uninitialized({ceil_div(rows_, H) * H, V, Q});
  std::ranges::copy(answer, all.begin());
  for (std::size_t row = H; row < rows_; row += H) {
    append_forecast(next, answer, middle, rules_);
    request.coming.insert(request.coming.end(), next.coming.begin(), next.coming.end());
    answer = forecast(next);
    std::copy(answer.begin(), answer.end(), all.begin() + std::ptrdiff_t(row * V * Q));
    widen(all, row, row + H, middle);
  }
  request.rows = rows_;
  return all;
}

NamedArray SeriesAnswers::answer(const NamedArray& question, const ForecastOf& forecast,
                                 const std::vector<std::string>& endings, std::size_t middle) {
  notes_.clear();
  std::vector<ForecastRequest> requests = forecast_requests(question, rules_, notes_);
  std::vector<Tensor> answers;
  for (ForecastRequest& request : requests)
    answers.push_back(rows_ > 0 ? recursive(request, forecast, middle) : forecast(request));
  if (rows_ > rules_.windows.horizon)
    notes_.push_back(in_words("rows after the first ", rules_.windows.horizon,
                              " of each series follow from forecasts of the rows before them"));
  return forecast_table(question, rules_.columns, rules_.facts.columns, requests, answers, endings);
}

}  // namespace bochner

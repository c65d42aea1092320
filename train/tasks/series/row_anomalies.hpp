#pragma once
#include <bochner/train/tasks/series/held_out_rows.hpp>
#include <bochner/train/tasks/series/known_rows.hpp>
#include <bochner/train/tasks/series/row_forecasts.hpp>
#include <functional>

namespace bochner {

/// How unusual a row is, given those before it. NaN for rows that cannot be forecast.
struct RowScore {
  std::vector<double> expected;  ///< (V)
  double score;                  ///< surprise in nats: -ln of the tail probability
  double p;                      ///< conformal p-value
};

using MakeRowForecasts = std::function<std::unique_ptr<RowForecasts>(const TimeSeries&)>;

/// Scores the rows of a series, each by those before it: the error of its forecast among the
/// held-out errors of this lead, and how long the value has hardly changed among such runs of the
/// training rows. The larger surprise of all variates counts; its p-value is multiplied by the
/// number of comparisons. A value of more than 6 nats begins an unusual stretch: its values do not
/// enter later forecasts, their forecasts do, and the next rows are forecast from the row before
/// it, until one has less than 2.3 nats or lies on the other side of its forecast, for at most
/// three horizons. Rows of the stretch with half the first error have 60 % of the first score.
std::vector<RowScore> score_rows(const KnownRows& known, HeldOutRows& held,
                                 const MakeRowForecasts& forecasts);

}  // namespace bochner

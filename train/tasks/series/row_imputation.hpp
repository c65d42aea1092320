#pragma once
#include <bochner/train/tasks/series/row_anomalies.hpp>

namespace bochner {

/// A series with its missing values filled in.
struct Imputed {
  xt::xarray<double> values;  ///< (V, n)
  std::size_t by_lines = 0;   ///< values before the first forecast, on lines between neighbours
};

/// Fills in runs of missing values by forecasts from the rows before them, plus what the errors of
/// the forecasts of the rows after them say: least squares over the held-out errors of both,
/// weighted by the inverse of the mean square of their changes, with a small ridge. The result is
/// mixed with the line between the neighbours of the run, in the share of least absolute error in
/// known rows. Forecasts of rows after H follow from filled rows.
Imputed impute_rows(const KnownRows& known, const Calibration& calibration,
                    const MakeRowForecasts& forecasts);

}  // namespace bochner

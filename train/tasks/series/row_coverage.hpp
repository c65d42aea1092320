#pragma once
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/tasks/series/held_out_rows.hpp>
#include <bochner/train/tasks/series/row_forecasts.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Returns errors of forecasts from up to 1,000 origins of each series in the validation split, and
/// about 1,000,000 in all, but at least 40 origins. Throws std::invalid_argument without such
/// windows.
Calibration calibrate_rows(const SeriesWindows& windows, ForecastsSeries& model);

/// Sets the stillness of each channel by the training rows, and the time of the last row that
/// errors are known of: `ends` by series, as numbers of rows.
void set_known_rows(Calibration& calibration, const SeriesWindows& windows,
                    const std::vector<std::size_t>& ends);

/// Returns how often split conformal and adaptive intervals hold from the origins of a split in
/// order, at least `stride` rows apart.
CoverageReport row_coverage(const Calibration& calibration, const SeriesWindows& windows,
                            Split split, double level, std::size_t stride, ForecastsSeries& model);

}  // namespace bochner

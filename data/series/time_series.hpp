#pragma once
#include <bochner/data/formats/array.hpp>
#include <bochner/data/series/time_step.hpp>
#include <cstdint>

namespace bochner {

struct TimeSeries {
  std::vector<std::string> names;      ///< names of the variates; empty if the table had none
  xt::xarray<double> values;           ///< (V, rows): a window of a variate is contiguous
  std::vector<double> times;           ///< (rows), increasing, or empty
  std::vector<std::string> id = {};    ///< id within its table
  xt::xarray<double> covariates = {};  ///< (C, rows): known beforehand, or empty
  WallClock clock = {};                ///< clock of days and months

  std::size_t variates() const { return values.shape()[0]; }
  std::size_t rows() const { return values.shape()[1]; }
  std::size_t channels() const { return covariates.dimension() == 2 ? covariates.shape()[0] : 0; }
  TimeStep time_step() const { return TimeStep(times, clock); }
};

/// Returns the named columns of a table (rows, columns) as variates, by default all except the
/// time. Throws DataError for a missing column, a number that is not finite, and times that do not
/// increase.
TimeSeries time_series(const NamedArray& table, const std::vector<std::string>& columns = {});

std::uint64_t fingerprint(const TimeSeries& series);

}  // namespace bochner

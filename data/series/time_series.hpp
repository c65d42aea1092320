#pragma once
#include <bochner/data/formats/array.hpp>
#include <bochner/data/series/time_step.hpp>
#include <cstdint>

namespace bochner {

/// Numbers that change together in time.
struct TimeSeries {
  std::vector<std::string> names;      ///< of the variates; empty if the table had none
  xt::xarray<double> values;           ///< (V, rows): a window of a variate is one run
  std::vector<double> times;           ///< (rows), increasing, or empty
  std::vector<std::string> id = {};    ///< what tells it apart from others of its table
  xt::xarray<double> covariates = {};  ///< (C, rows): what is known of rows beforehand, or empty
  WallClock clock = {};                ///< by which days and months are told

  std::size_t variates() const { return values.shape()[0]; }
  std::size_t rows() const { return values.shape()[1]; }
  std::size_t channels() const { return covariates.dimension() == 2 ? covariates.shape()[0] : 0; }
  TimeStep time_step() const { return TimeStep(times, clock); }
};

/// The named columns of a table (rows, columns) as variates, or without names all but that of the
/// time. Throws DataError for a column that does not exist, a number that is not finite, or time
/// that does not go on.
TimeSeries time_series(const NamedArray& table, const std::vector<std::string>& columns = {});

/// XXH64 of names, times and values, id and covariates.
std::uint64_t fingerprint(const TimeSeries& series);

}  // namespace bochner

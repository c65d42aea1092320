#pragma once
/// Point forecasts from within a series, for errors, anomalies and missing values.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/data/series/series_table.hpp>
#include <memory>
#include <vector>

namespace bochner {

/// Forecasts of one series, whose values may change between calls.
class RowForecasts {
 public:
  virtual ~RowForecasts() = default;
  /// Returns the first row that can be forecast.
  virtual std::size_t first_origin() const = 0;
  /// Returns whether no gap lies within the rows that a forecast from this row on needs.
  virtual bool is_usable(std::size_t) const { return true; }
  /// Returns forecasts of H rows from each origin on, given the rows before it. Origins are at most
  /// the number of rows. (n, V, H)
  virtual Tensor at(const std::vector<std::size_t>& origins) = 0;
};

/// Makes forecasts of any series that it has learned.
class ForecastsSeries {
 public:
  virtual ~ForecastsSeries() = default;
  /// `number` of the series in the facts; the series must outlive the forecasts.
  virtual std::unique_ptr<RowForecasts> forecasts_of(const TimeSeries& series,
                                                     std::size_t number) = 0;
};

/// Returns n numbers or fewer of 0, ..., count - 1, evenly spaced with both ends.
std::vector<std::size_t> evenly_spaced(std::size_t count, std::size_t n);

}  // namespace bochner

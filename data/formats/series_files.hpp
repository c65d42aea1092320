#pragma once
/// Series of real values, each with a class or a number to predict, and their files: .ts of the UEA
/// archive (sktime, aeon) and .arff of Weka.

#include <bochner/data/formats/array.hpp>

namespace bochner {

/// One series; missing values are NaN.
struct RealSeries {
  std::vector<float> values;       ///< (channels, rows)
  std::string label = "";          ///< text of its class or number; "" if there is none
  std::vector<double> times = {};  ///< (rows) ascending, or none; dates are seconds since 1970
  std::string name = "";           ///< its id in the file, or the file; "" if it has none
};

struct RealSeriesSet {
  std::size_t channels = 0;
  std::vector<RealSeries> series = {};
  bool numbers = false;                 ///< labels are numbers to predict, by the header
  std::uint64_t rate = 0;               ///< samples a second of recordings, 0 of others
  std::vector<std::string> names = {};  ///< of the channels; none if they have none

  std::size_t rows(std::size_t number) const { return series[number].values.size() / channels; }
};
/// Adds the series of another file. Throws DataError for other channels or another rate.
void append_series(RealSeriesSet& all, RealSeriesSet more);
/// Returns whether the steps between the times of a series differ by more than 1 %.
bool has_irregular_times(const RealSeries& series);

/// Returns the format of a text by its header: "ts", "arff" where attributes are relations or
/// numbered, or "".
std::string series_format(std::string_view text);
/// Reads series of equal or different lengths, of .ts also with time stamps: pairs of a number or
/// date and a value, whose rows are the times of all channels. A missing value is "?" or NaN.
/// Throws DataError with the line for other numbers of channels than in the lines above, channels
/// of different lengths, times that do not ascend, and texts that are not numbers.
RealSeriesSet parse_series(std::string_view text, const std::string& name);

}  // namespace bochner

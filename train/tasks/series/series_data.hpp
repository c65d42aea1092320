#pragma once
/// What configs say of tables of series.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/data/series/text_covariates.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// What a config says that the columns of a series are.
SeriesColumns series_columns(const Config& config);
/// How such a table is read. Several series fill in what is missing one by one, and rows to come
/// have no values: both are left missing here.
ReadOptions series_options(const Config& config);
/// The series of a config, and what the texts among their covariates are.
struct LearnedTable {
  std::vector<TimeSeries> series;
  TextLevels levels;
  std::vector<std::string> time = {};  ///< Vocabularies::time
};
/// Of its file. Throws DataError where that is no such table.
LearnedTable read_series(const Config& config);
/// What is missing becomes the value of the row before, series by series: else the reader does it.
bool carries_forward(const Config& config, const SeriesColumns& columns);
/// Throws ConfigError where keys of series and of forecasters do not fit.
void check_series(const Config& config);

}  // namespace bochner

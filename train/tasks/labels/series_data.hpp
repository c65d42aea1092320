#pragma once
/// Data, facts and pictures that the tasks on labelled series share.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/labelled/labelled_series.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/labels/labelled_series_facts.hpp>
#include <span>

namespace bochner {

/// Returns the columns of tables of series that a config names.
RealSeriesColumns series_columns(const Config& config);
/// Opens the series of data.files and data.test_files. Classes are numbered as in the known facts.
/// Throws DataError with the file.
LabelledSeries open_series(const Config& config, const KnownFacts& known);
/// Returns the facts of the series, or the known ones if data may not extend them. Throws DataError
/// for other channels, and for classes that the model has not learned.
LabelledSeriesFacts facts_of(const LabelledSeries& data, const KnownFacts& known);
/// Returns how tables of labelled series are read.
ReadOptions labelled_series_options(const Config& config);
/// Draws the channels of a series.
std::string draw_series(const std::string& title, std::span<const float> values,
                        std::size_t channels);

}  // namespace bochner

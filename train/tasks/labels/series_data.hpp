#pragma once
/// Data, facts and pictures that the tasks on labelled series share.

#include <bochner/autodiff/tape.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/labelled/labelled_series.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/labels/label_pictures.hpp>
#include <bochner/train/tasks/labels/labelled_series_facts.hpp>
#include <cmath>
#include <span>

namespace bochner {

/// Returns the columns of tables of series that a config names.
RealSeriesColumns labelled_series_columns(const Config& config);
/// Opens the series of data.files and data.test_files. Classes are numbered as in the known facts.
/// Throws DataError with the file.
LabelledSeries open_series(const Config& config, const KnownFacts& known);
/// Returns the facts of the series, or the known ones if data may not extend them. Throws DataError
/// for other channels, and for classes that the model has not learned.
LabelledSeriesFacts facts_of(const LabelledSeries& data, const KnownFacts& known);
/// Returns how tables of labelled series are read.
ReadOptions labelled_series_options(const Config& config);

/// Series of examples, with their classes or the numbers to predict.
struct LabelledSeriesBatch {
  std::vector<std::span<const float>> series;
  Indices labels;
  std::vector<double> numbers;
};
LabelledSeriesBatch labelled_batch(const LabelledSeries& data, const Examples& examples);
/// Returns all examples of a split.
LabelledSeriesBatch labelled_batch(const LabelledSeries& data, Split split);

/// Sums of the squared and of the absolute errors of numbers.
struct NumberErrors {
  double squares = 0, absolute = 0, count = 0;

  void add(double error) { squares += error * error, absolute += std::abs(error), count += 1; }
  double rmse() const { return std::sqrt(squares / count); }
  double mae() const { return absolute / count; }
};
/// Returns the errors of one answer to all.
NumberErrors errors_of(const std::vector<double>& truth, double answer);

/// Views the values of all series.
std::vector<std::span<const float>> values_of(const RealSeriesSet& set);

/// Returns the series of a question, in the order of their first rows. Throws DataError for other
/// channels than those of the model.
RealSeriesSet asked_series(const NamedArray& question, const RealSeriesColumns& columns,
                           std::size_t channels);
/// Returns a table with the name of each series, or its number from 1, and the probability of each
/// class. logits (n, classes)
NamedArray class_probabilities(const Tensor& logits, const std::vector<std::string>& classes,
                               const RealSeriesSet& set);

/// Returns answers to a batch, with pictures of those that are wrong. logits (n, classes)
std::vector<LabelAnswer> series_answers(const LabelledSeries& data,
                                        const LabelledSeriesBatch& batch, const Tensor& logits);
/// Draws the channels of a series.
std::string draw_series(const std::string& title, std::span<const float> values,
                        std::size_t channels);
/// Adds held-out numbers over the predicted ones, and their differences.
void add_number_answers(Page& page, const std::vector<double>& predicted,
                        const std::vector<double>& observed);
/// Adds a picture of the first training series of each class, of nine at most.
void add_series_of_classes(Page& page, const LabelledSeries& data);

}  // namespace bochner

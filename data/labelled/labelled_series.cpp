#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/labelled/labelled_series.hpp>
#include <cmath>
#include <set>
#include <tuple>

namespace bochner {
namespace {

/// Returns the known classes, then the others in the order of their names, numbers ascending.
std::vector<std::string> classes_of(const RealSeriesSet& set, std::vector<std::string> classes) {
  std::set<std::tuple<bool, double, std::string>> found;
  for (const RealSeries& series : set.series) {
    const std::optional<double> number = parse_number(series.label);
    found.emplace(!number, number.value_or(0), series.label);
  }
  for (const auto& [text, number, name] : found)
    if (!std::ranges::count(classes, name)) classes.push_back(name);
  return classes;
}

}  // namespace

void LabelledSeries::read_labels(Labelled& series, const char* key) const {
  for (const RealSeries& one : series.set.series) {
    if (classes_.empty()) {
      const std::optional<double> number = parse_number(one.label);
      if (!number || !std::isfinite(*number))
        throw DataError(key, ": a series has the label ", excerpt(one.label),
                        ", which is not a number; set data.labels = \"classes\"");
      series.labels.push_back(0);
      series.numbers.push_back(*number);
      continue;
    }
    const auto found = std::ranges::find(classes_, one.label);
    if (found == classes_.end())
      throw DataError(key, ": a series has the label ", excerpt(one.label),
                      ", which no series of data.files has");
    series.labels.push_back(std::int32_t(found - classes_.begin()));
    series.numbers.push_back(0);
  }
}

LabelledSeries::LabelledSeries(RealSeriesSet training, RealSeriesSet test,
                               const LabelledSeriesSpec& spec)
    : training_{std::move(training)}, test_{std::move(test)} {
  for (const RealSeries& series : training_.set.series)
    if (series.label.empty())
      throw DataError(
          "data.files: series without a label; if folders or names of files are labels, set "
          "data.label_from");
  if (training_.set.series.empty()) throw DataError("data.files: no series to train on");
  if (training_.set.numbers && !spec.numbers)
    throw DataError(
        "data.files: the labels are numbers to predict, by the header; set data.labels = "
        "\"numbers\"");
  if (!spec.numbers) {
    classes_ = classes_of(training_.set, spec.classes);
    if (classes_.size() < 2)
      throw DataError("data.files: all series have the label ", excerpt(classes_[0]),
                      "; a classifier needs two or more");
  }
  if (!test_.set.series.empty() && test_.set.channels != training_.set.channels)
    throw DataError("data.test_files: series of ", test_.set.channels,
                    " channels; data.files have ", training_.set.channels);
  if (!test_.set.series.empty() && test_.set.rate != training_.set.rate)
    throw DataError("data.test_files: ", test_.set.rate, " samples a second; data.files have ",
                    training_.set.rate);
  read_labels(training_, "data.files");
  read_labels(test_, "data.test_files");
  hold_out(spec);
  for (std::size_t i = 0; i < training_.set.series.size(); ++i)
    length_ = std::max(length_, training_.set.rows(i));
}

void LabelledSeries::hold_out(const LabelledSeriesSpec& spec) {
  std::vector<std::size_t> held;
  for (std::size_t k = 0; k < std::max<std::size_t>(1, classes_.size()); ++k) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < training_.labels.size(); ++i)
      if (training_.labels[i] == std::int32_t(k)) members.push_back(i);
    const std::size_t n = members.size(),
                      kept = n > 1 ? n - std::size_t(held_out(n, spec.validation)) : n;
    for (std::size_t i = 0; i < n; ++i)
      (i < kept ? order_ : held).push_back(members[permuted_index(spec.seed, 0, i, n)]);
  }
  std::ranges::sort(order_);
  examples_ = {spec.seed, order_.size(), held.size(), test_.set.series.size()};
  order_.insert(order_.end(), held.begin(), held.end());
}

std::size_t LabelledSeries::number_of(Split split, std::uint64_t index) const {
  if (split == Split::test) return index;
  return order_[index + (split == Split::validation ? examples_.train : 0)];
}

LabelledSeries::Example LabelledSeries::example(Split split, std::uint64_t index) const {
  const std::size_t number = number_of(split, index);
  const Labelled& from = split == Split::test ? test_ : training_;
  return {from.set.series[number].values, from.labels[number], from.numbers[number]};
}

std::uint64_t LabelledSeries::fingerprint() const {
  std::uint64_t digest = examples_.fingerprint("labelled_series", {training_.set.channels});
  for (const RealSeries& series : training_.set.series) {
    digest = digest_of_elements(series.values, digest);
    digest = digest_of_elements(series.label, digest);
  }
  return digest;
}

std::string LabelledSeries::describe() const {
  const std::string labels =
      classes_.empty() ? "a number each" : in_words(classes_.size(), " classes");
  const auto irregular = std::ranges::count_if(training_.set.series, has_irregular_times);
  return in_words(labels, ", ", channels(), channels() == 1 ? " channel" : " channels", ", up to ",
                  length_, " rows",
                  irregular == 0 ? ""
                                 : in_words("; ", irregular,
                                            " series have irregular times, which are not used"));
}

}  // namespace bochner

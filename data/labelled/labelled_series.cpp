#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/labelled/labelled_series.hpp>
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

/// Returns the number of the class of each series. Throws DataError for labels that are no class.
std::vector<std::int32_t> labels_of(const RealSeriesSet& set,
                                    const std::vector<std::string>& classes, const char* key) {
  std::vector<std::int32_t> labels;
  for (const RealSeries& series : set.series) {
    const auto found = std::ranges::find(classes, series.label);
    if (found == classes.end())
      throw DataError(key, ": a series has the label ", excerpt(series.label),
                      ", which no series of data.files has");
    labels.push_back(std::int32_t(found - classes.begin()));
  }
  return labels;
}

}  // namespace

LabelledSeries::LabelledSeries(RealSeriesSet training, RealSeriesSet test,
                               const LabelledSeriesSpec& spec)
    : training_(std::move(training)), test_(std::move(test)) {
  for (const RealSeries& series : training_.series)
    if (series.label.empty()) throw DataError("data.files: series without a label");
  if (training_.numbers)
    throw DataError(
        "data.files: the labels are numbers with fractions; a filter bank learns classes");
  classes_ = classes_of(training_, spec.classes);
  if (classes_.size() < 2)
    throw DataError("data.files: all series have the label ", excerpt(classes_[0]),
                    "; a classifier needs two or more");
  if (!test_.series.empty() && test_.channels != training_.channels)
    throw DataError("data.test_files: series of ", test_.channels, " channels; data.files have ",
                    training_.channels);
  labels_ = labels_of(training_, classes_, "data.files");
  test_labels_ = labels_of(test_, classes_, "data.test_files");
  std::vector<std::size_t> held;
  for (std::size_t k = 0; k < classes_.size(); ++k) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < labels_.size(); ++i)
      if (labels_[i] == std::int32_t(k)) members.push_back(i);
    const std::size_t n = members.size(),
                      kept = n > 1 ? n - std::size_t(held_out(n, spec.validation)) : n;
    for (std::size_t i = 0; i < n; ++i)
      (i < kept ? order_ : held).push_back(members[permuted_index(spec.seed, 0, i, n)]);
  }
  std::ranges::sort(order_);
  examples_ = {spec.seed, order_.size(), held.size(), test_.series.size()};
  order_.insert(order_.end(), held.begin(), held.end());
  for (std::size_t i = 0; i < training_.series.size(); ++i)
    length_ = std::max(length_, training_.rows(i));
}

std::size_t LabelledSeries::number_of(Split split, std::uint64_t index) const {
  if (split == Split::test) return index;
  return order_[index + (split == Split::validation ? examples_.train : 0)];
}

LabelledSeries::Example LabelledSeries::example(Split split, std::uint64_t index) const {
  const std::size_t number = number_of(split, index);
  const bool test = split == Split::test;
  return {(test ? test_ : training_).series[number].values,
          (test ? test_labels_ : labels_)[number]};
}

std::uint64_t LabelledSeries::fingerprint() const {
  std::uint64_t digest = examples_.fingerprint("labelled_series", {training_.channels});
  for (const RealSeries& series : training_.series) {
    digest = digest_of_elements(series.values, digest);
    digest = digest_of_elements(series.label, digest);
  }
  return digest;
}

std::string LabelledSeries::describe() const {
  return in_words(classes_.size(), " classes, ", training_.channels,
                  training_.channels == 1 ? " channel" : " channels", ", up to ", length_, " rows");
}

}  // namespace bochner

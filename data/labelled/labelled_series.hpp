#pragma once
/// Series of real values as examples with a class or a number each.

#include <bochner/data/dataset.hpp>
#include <bochner/data/formats/series_tables.hpp>

namespace bochner {

struct LabelledSeriesFiles {
  std::vector<std::string> test_files = {};
  std::string labels = "classes";
};
inline void describe(Keys& keys, LabelledSeriesFiles& spec) {
  keys("test_files", spec.test_files, "files of series to test on", resumable_path);
  keys("labels", spec.labels, one_of({"classes", "numbers"}),
       "what a series is labelled with: a class, or a number to predict");
}

struct LabelledSeriesSpec {
  double validation = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> classes = {};  ///< known ones, numbered first
  bool numbers = false;                   ///< labels are numbers to predict
};

/// Series to train on, some of them held out in the proportions of their classes, and given ones to
/// test on.
class LabelledSeries : public Dataset {
 public:
  /// Throws DataError unless there are two classes, or all labels are numbers, and for labels that
  /// are missing, test series of other channels, or no series to train on.
  LabelledSeries(RealSeriesSet training, RealSeriesSet test, const LabelledSeriesSpec& spec);

  std::size_t channels() const { return training_.set.channels; }
  /// Returns the rows of the longest series to train or validate on.
  std::size_t length() const { return length_; }
  /// Returns the names of the classes; none if labels are numbers.
  const std::vector<std::string>& classes() const { return classes_; }

  /// An example: its values (channels, rows), and the number of its class or the number to predict.
  struct Example {
    const std::vector<float>& values;
    std::int32_t label;  ///< 0 if labels are numbers
    double number;       ///< 0 if labels are classes
  };
  Example example(Split split, std::uint64_t index) const;
  std::uint64_t tokens_per_example() const override { return length_; }
  std::uint64_t fingerprint() const override;

 protected:
  std::string describe() const override;

 private:
  /// A set of series with the number of the class, or the number to predict, of each.
  struct Labelled {
    RealSeriesSet set;
    std::vector<std::int32_t> labels = {};
    std::vector<double> numbers = {};
  };
  void read_labels(Labelled& series, const char* key) const;
  void hold_out(const LabelledSeriesSpec& spec);
  std::size_t number_of(Split split, std::uint64_t index) const;

  Labelled training_, test_;
  std::vector<std::string> classes_;
  std::vector<std::size_t> order_;  // of training_: series to train on, then those held out
  std::size_t length_ = 0;
};

}  // namespace bochner

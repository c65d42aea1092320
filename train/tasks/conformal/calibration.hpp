#pragma once
/// What held-out examples have shown of a model's errors, for intervals, sets of classes and
/// p-values of anomalies.

#include <bochner/base/errors.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace bochner {

/// Runs of rows whose values hardly change, in the training rows of a variate.
struct Stillness {
  double step = 0;                          ///< a change that is not larger does not count
  std::vector<std::uint64_t> reached = {};  ///< number of rows; runs of at least 1, 2, ... rows

  template <class Archive>
  void serialize(Archive& archive) {
    archive(step, reached);
  }
};

/// Held-out errors of one variate of one series.
struct RowErrors {
  /// (n, H) truth minus forecast in the unit of the data, in order of time
  std::vector<float> errors = {};
  double independent = 0;  ///< how many of them are about independent; 0 if it is not known
  Stillness still = {};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(errors, independent, still);
  }
  std::size_t count(std::size_t leads) const { return errors.size() / leads; }
};

struct Calibration {
  static constexpr const char* kind = "calibration";
  std::uint64_t step = 0;                 ///< of the checkpoint
  std::uint64_t leads = 0;                ///< of series: rows of the horizon (H)
  std::vector<RowErrors> channels = {};   ///< of each series and variate
  std::vector<double> ends = {};          ///< time of the last held-out row by series, if known
  std::vector<std::string> classes = {};  ///< of labels
  /// Held-out scores: of each class, 1 - its probability where it is right; of events, one list of
  /// -ln density.
  std::vector<std::vector<double>> scores = {};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(step, leads, channels, ends, classes, scores);
  }
  /// Throws DataError if sizes contradict each other.
  void check() const;
};

/// Returns the quantile of each class's scores (Mondrian conformal prediction): a class whose
/// 1 - probability is at most its bound is in the set. Infinite for classes of too few examples.
std::vector<double> class_bounds(const Calibration& calibration, double level);

}  // namespace bochner

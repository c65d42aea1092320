#pragma once
/// Windows of readings, some of whose values are asked for.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/data/dataset.hpp>
#include <bochner/data/fields/bounding_box.hpp>
#include <bochner/data/fields/sensor_table.hpp>

namespace bochner {

struct SensorSpec {
  std::size_t length = 256;  ///< readings of a window (T)
  double validation = 0.1;   ///< fraction of the rows, the last in time
  std::uint64_t seed = 1;    ///< of the training order and of what is asked
  double asked = 0.25;       ///< fraction of the readings of a window
  std::string ask = "any";   ///< "any", "last" or "places"
};
/// The names of what may be asked for.
std::vector<std::string> sensor_questions();
inline void describe(Keys& keys, SensorSpec& spec) {
  keys("ask", spec.ask, one_of(sensor_questions),
       "sensors: whose values are hidden and asked for: any readings of a window, the last in time "
       "(a forecast), or all of some places (where no sensor is)");
  keys("asked", spec.asked, below(0.001, 1), "sensors: fraction of the readings of a window");
}

/// Windows of T readings; values (B, T, V) in the unit of the data.
struct SensorBatch {
  Tensor values, seen;    ///< what is seen, 0 elsewhere; 1 where a value is seen
  Tensor targets, asked;  ///< what is asked for, 0 elsewhere; 1 where a known value is asked for
  std::vector<double> places;  ///< (B, T, d)
  std::vector<double> times;   ///< (B, T), since the first of the window
};

/// Mean and standard deviation (divisor n) of each variate, and the units of place and time: where
/// coordinates begin, how far they reach, and the median span of a window.
struct SensorScale {
  std::vector<double> mean, deviation;  ///< (V) each
  BoundingBox places;
  double span = 1;
};

/// Runs of T readings in the order of time. Every run of the training rows is an example, of which
/// each epoch asks for others; the last rows in time validate, in windows without overlap, always
/// asked for the same. Missing values are neither seen nor asked for. Throws DataError where a part
/// is shorter than a window, or where none of its windows asks for a value that is known.
class SensorWindows : public Dataset {
 public:
  SensorWindows(SensorTable table, const SensorSpec& spec);
  const SensorTable& table() const { return table_; }
  const SensorSpec& spec() const { return spec_; }
  SensorBatch batch(const Examples& examples) const;
  /// Of the training rows only.
  SensorScale scale() const;
  std::uint64_t tokens_per_example() const override { return spec_.length; }
  std::uint64_t fingerprint() const override;

 protected:
  /// "30 places of 2 coordinates, 1 variate, 6000 readings"
  std::string describe() const override;

 private:
  void copy_window(Split split, const Examples::Number& number, SensorBatch& batch,
                   std::size_t b) const;
  std::vector<bool> questions(std::size_t first, Draws draws) const;
  void require_questions(Split split) const;
  bool asks(Split split, std::uint64_t index) const;
  /// Of a window.
  std::size_t first_row(Split split, std::uint64_t index) const {
    return split == Split::train ? index : train_rows_ + index * spec_.length;
  }

  SensorTable table_;
  SensorSpec spec_;
  std::size_t train_rows_;
};

/// Readings a window asks for: at least one, and at least one is left.
std::size_t asked_count(const SensorSpec& spec);

}  // namespace bochner

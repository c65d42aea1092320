#pragma once
/// Sensor readings, values at irregular places and times, and their windows in which some values
/// are hidden and asked for.

#include <algorithm>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/keys.hpp>
#include <bochner/data/dataset.hpp>
#include <bochner/data/fields/bounding_box.hpp>
#include <bochner/data/formats/array.hpp>

namespace bochner {

struct SensorColumns {
  std::string time = "time";
  std::vector<std::string> places = {};  ///< 1 to 3 coordinates
  std::vector<std::string> values = {};  ///< empty: all others
};
inline void describe(Keys& keys, SensorColumns& columns) {
  const KeyCondition events = when("data.kind", {"event_files"}) && when("model.kind", {"events"});
  keys.when(when("data.kind", {"sensors"}) || events)(
      "place_columns", columns.places,
      "one to three columns of coordinates, by name or by number from 1; none for events without "
      "places");
}

/// Readings sorted by time, those of equal times as in the table.
struct SensorTable {
  std::size_t dimensions = 1, variates = 1;  ///< d, V
  std::vector<double> times;                 ///< (n), ascending
  std::vector<double> places;                ///< (n, d)
  std::vector<double> values;                ///< (n, V); NaN: missing
  std::vector<std::size_t> rows;             ///< (n): rows of the source table
  std::vector<std::string> names;            ///< of time, places and values

  std::size_t size() const { return times.size(); }
  /// Returns the names of the values; none if columns have only numbers.
  std::vector<std::string> value_names() const;
  SensorTable part(std::size_t first, std::size_t last) const;
};

/// Returns the readings of a table. Throws DataError for missing columns, no column of values, and
/// a missing time or coordinate, with its row.
SensorTable sensor_table(const NamedArray& array, const SensorColumns& columns);
/// Returns the columns of a table with the names of `like`, which `columns` chose: all of them, and
/// no other values. For a table without names, returns `columns`. Throws DataError with the names.
SensorColumns columns_named_like(const NamedArray& array, const SensorColumns& columns,
                                 const SensorTable& like);
/// Merges several tables. Throws DataError if their columns differ.
SensorTable merged(const std::vector<SensorTable>& tables);

std::uint64_t fingerprint(const SensorTable& table);

struct SensorSpec {
  std::size_t length = 256;  ///< readings of a window (T)
  double validation = 0.1;   ///< fraction of the rows, the last in time
  std::uint64_t seed = 1;    ///< seed of the training order and of the choice of hidden values
  double asked = 0.25;       ///< fraction of hidden readings of a window
  std::string ask = "any";   ///< "any", "last" or "places"
};
std::vector<std::string> sensor_questions();
inline void describe(Keys& keys, SensorSpec& spec) {
  keys("ask", spec.ask, one_of(sensor_questions),
       "readings of a window to hide and ask for: any, the last in time (a forecast), or all of "
       "some places (where no sensor is)");
  keys("asked", spec.asked, below(0.001, 1), "fraction of the readings of a window that are asked");
}

/// Windows of T readings; values (B, T, V) keep the unit of the data.
struct SensorBatch {
  Tensor values, seen;         ///< visible values, else 0; 1 for a visible value
  Tensor targets, asked;       ///< hidden values, else 0; 1 for a known hidden value
  std::vector<double> places;  ///< (B, T, d)
  std::vector<double> times;   ///< (B, T), since the first of the window
};

/// Mean and deviation (divisor n) of each variate, box of places, and median time span of a window.
struct SensorScale {
  std::vector<double> mean, deviation;  ///< (V) each
  BoundingBox places;
  double span = 1;
};

/// Runs of T readings in order of time. Every run of the training rows is an example, with other
/// values hidden in each epoch; the last rows validate, in windows without overlap, with the same
/// values hidden each time. Missing values are neither visible nor asked for. Throws DataError if a
/// part is shorter than a window, or none of its windows asks for a known value.
class SensorWindows : public Dataset {
 public:
  SensorWindows(SensorTable table, const SensorSpec& spec);
  const SensorTable& table() const { return table_; }
  const SensorSpec& spec() const { return spec_; }
  SensorBatch batch(const Examples& examples) const;
  double terms(const Examples& examples) const override {
    const Tensor asked = batch(examples).asked;
    return double(std::count(asked.begin(), asked.end(), real(1)));
  }
  SensorScale scale() const;
  std::uint64_t tokens_per_example() const override { return spec_.length; }
  std::uint64_t fingerprint() const override;

 protected:
  /// Describes the data: "30 places in 2 dimensions, 1 variate, 6000 readings".
  std::string describe() const override;

 private:
  void copy_window(Split split, const Examples::Number& number, SensorBatch& batch,
                   std::size_t b) const;
  std::vector<bool> questions(std::size_t first, Draws draws) const;
  void require_questions(Split split) const;
  bool asks(Split split, std::uint64_t index) const;
  std::size_t first_row(Split split, std::uint64_t index) const {
    return split == Split::train ? index : train_rows_ + index * spec_.length;
  }

  SensorTable table_;
  SensorSpec spec_;
  std::size_t train_rows_;
};

/// Returns the number of readings that a window asks for: at least one, with at least one left.
std::size_t asked_count(const SensorSpec& spec);

}  // namespace bochner

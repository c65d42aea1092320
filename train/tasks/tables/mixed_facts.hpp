#pragma once
#include <bochner/data/tables/mixed_table.hpp>
#include <bochner/train/tasks/tables/process_facts.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, MixedColumn& column) {
  archive(column.name, column.categories, column.values);
}

/// The rows that an ensemble of a table is fitted to, and their units.
struct MixedFacts {
  static constexpr const char* kind = "mixed table";
  std::vector<MixedColumn> inputs = {};
  MixedColumn target = {};
  std::vector<ColumnUnit> units = {};  ///< of each encoded input, then of the target

  template <class Archive>
  void serialize(Archive& archive) {
    archive(inputs, target, units);
  }
  MixedTable table() const { return {inputs, target}; }
  /// Throws DataError if sizes contradict each other, or a number is no category.
  void check() const;
};

}  // namespace bochner

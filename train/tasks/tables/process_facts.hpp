#pragma once
#include <bochner/data/tables/table_rows.hpp>
#include <bochner/train/tasks/facts.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, ColumnUnit& unit) {
  archive(unit.mean, unit.deviation);
}

template <class Archive>
void serialize(Archive& archive, RegressionTable& table) {
  std::uint64_t time = table.time ? *table.time + 1 : 0;
  archive(table.inputs, table.target, time, table.observations.inputs, table.observations.targets);
  table.time = time > 0 ? std::optional<std::size_t>(time - 1) : std::nullopt;
}

struct ProcessFacts {
  static constexpr const char* kind = "table";
  RegressionTable table = {};          ///< all rows; the config says which are held out
  std::vector<ColumnUnit> units = {};  ///< of each input, then of the target
  std::uint64_t components = 1;        ///< of a mixture

  template <class Archive>
  void serialize(Archive& archive) {
    archive(table, units, components);
  }
  void check() const;
};

}  // namespace bochner

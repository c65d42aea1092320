#pragma once
/// Tables that a program makes, in place of files, named by data.source.

#include <bochner/base/registry.hpp>
#include <bochner/data/formats/array.hpp>

namespace bochner {

/// Makes a table: simulates it, or fetches it from elsewhere.
class TableSource {
 public:
  virtual ~TableSource() = default;
  /// Returns the table that a file of data.files would hold, with names of its columns: a function
  /// of the keys alone, since a resumed run refuses other numbers. Texts, such as labels, are
  /// NamedArray::texts; times are a column of numbers named by data.time_column, or
  /// NamedArray::time. (rows, columns)
  virtual NamedArray table() const = 0;
};

struct TableSourceSpec {
  std::string source = "files";
  OwnSpecs own = {};  ///< specs of custom sources
};
using TableSources = Registry<TableSource, TableSourceSpec>;
/// Registry of sources of tables, named by data.source; the library has none. Add custom ones here.
TableSources& table_sources();

inline void describe(Keys& keys, TableSourceSpec& spec) {
  keys("source", spec.source, one_of(table_sources, {"files"}),
       "where tables are from: data.files, or a program that makes them");
  table_sources().describe_own(keys, spec.own, "source");
}

/// Makes the table of a source, checked. Throws std::invalid_argument for an unknown source, and
/// DataError for a table without rows, or whose names, texts or time do not fit its columns.
NamedArray make_table(const TableSourceSpec& spec);

}  // namespace bochner

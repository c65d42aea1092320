#pragma once
/// How configs choose rows and columns of tables.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/tables/table_rows.hpp>

namespace bochner {

class Config;

/// Returns how a config splits the rows of a table.
TableSpec table_spec(const Config& config);
/// Returns how to read the table: all of its columns if no inputs are named.
ReadOptions regression_options(const Config& config);

}  // namespace bochner

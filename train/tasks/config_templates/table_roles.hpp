#pragma once
/// Roles of the columns of a table whose rows are independent.

#include <bochner/train/tasks/config_templates/table_inference.hpp>
#include <filesystem>

namespace bochner {

/// Columns by role, by index.
struct TableRoles {
  std::size_t target = 0;
  bool is_named = false;                 ///< the target, by its name; else it is the last column
  std::vector<std::size_t> inputs = {};  ///< numbers and categories
  std::vector<std::size_t> categories = {};  ///< inputs or target that are categories
};

/// Returns the column to predict: the requested one, one that is named like a target, or the last
/// one of numbers or of few texts. Throws DataError if there is none.
std::size_t target_column(const InferredTable& table);
/// Returns whether a column of texts has as few as classes have.
bool holds_classes(const InferredTable& table, std::size_t column);
/// Returns whether a table has classes by its names: a column named like a target holds them.
bool names_classes(const InferredTable& table);

/// Returns the roles of columns, and adds to the table why others have none: constants, row
/// numbers, ids and texts. Targets are classes if they are texts or few whole numbers. Throws
/// DataError if no inputs remain, or if the target is texts that are not classes.
TableRoles table_roles(const std::filesystem::path& file, InferredTable& table);

}  // namespace bochner

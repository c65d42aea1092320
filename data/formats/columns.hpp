#pragma once
/// Missing columns and missing values of tables.

#include <bochner/data/formats/array.hpp>

namespace bochner {

/// Returns: no column "c"; there are: "a", "b"; or columns 1 to 3 if they have no names.
std::string no_column(const std::vector<std::string>& names, std::size_t width,
                      const std::string& wanted);

/// Replaces NaN in a column by its mean. Returns false if it has no numbers.
bool fill_with_mean(NamedArray& table, std::size_t column);

}  // namespace bochner

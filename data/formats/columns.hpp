#pragma once
/// What readers of tables say of columns that are not there, and do about values that are missing.

#include <bochner/data/formats/array.hpp>

namespace bochner {

/// no column "c"; there are: "a", "b"; or columns 1 to 3 where they have no names.
std::string no_column(const std::vector<std::string>& names, std::size_t width,
                      const std::string& wanted);

/// NaN of a column of a table becomes the mean of its numbers. False where it has none.
bool fill_with_mean(NamedArray& table, std::size_t column);

}  // namespace bochner

#include <algorithm>
#include <bochner/data/files/text.hpp>
#include <bochner/data/formats/array.hpp>

namespace bochner {

std::string column_name(const NamedArray& array, std::size_t column) {
  return array.columns.empty() ? std::to_string(column + 1) : array.columns[column];
}

std::optional<std::size_t> find_column(const std::vector<std::string>& names, std::size_t width,
                                       const std::string& wanted) {
  const auto named = std::find(names.begin(), names.end(), wanted);
  if (named != names.end()) return std::size_t(named - names.begin());
  const auto number = parse_count(wanted);
  if (number && *number >= 1 && *number <= width) return *number - 1;
  return std::nullopt;
}

}  // namespace bochner

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/series/text_covariates.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

constexpr std::size_t most_levels = 64;
constexpr double no_text = std::numeric_limits<double>::quiet_NaN();

std::optional<std::size_t> index_of(const NamedArray& table, const std::string& name) {
  return find_column(table.columns, table.values.shape()[1], name);
}

bool is_number(const std::string& text) {
  return parse_number(text, '.').has_value() || parse_number(text, ',').has_value();
}

/// Returns the level of each row; NaN without a text.
std::vector<double> levels_of_rows(const NamedArray& table, std::size_t column,
                                   const std::string& name,
                                   const std::vector<std::string>& levels) {
  const auto texts = table.texts.find(column);
  std::vector<double> numbers;
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row) {
    const double value = table.values(row, column);
    numbers.push_back(no_text);
    if (std::isnan(value)) continue;
    const std::string text =
        texts == table.texts.end() ? format_number(value) : texts->second.at(std::size_t(value));
    const auto found = std::ranges::find(levels, text);
    if (found == levels.end())
      throw DataError("row ", row + 1, ", column ", name, ": the model does not know ",
                      excerpt(text), "; it was trained on ", excerpt(levels.front()), " and ",
                      levels.size() - 1, " more");
    numbers.back() = double(found - levels.begin());
  }
  return numbers;
}

/// Appends an indicator column for each level, `without` where a row has none. Returns their names.
std::vector<std::string> append_indicators(NamedArray& table, const std::string& name,
                                           const std::vector<std::string>& levels,
                                           const std::vector<double>& level, double without) {
  const std::size_t rows = table.values.shape()[0], width = table.values.shape()[1],
                    n = levels.size();
  auto wider = xt::xarray<double>::from_shape({rows, width + n});
  for (std::size_t row = 0; row < rows; ++row) {
    double* to = wider.data() + row * (width + n);
    std::copy_n(table.values.data() + row * width, width, to);
    for (std::size_t i = 0; i < n; ++i)
      to[width + i] = std::isnan(level[row]) ? without : double(level[row] == double(i));
  }
  table.values = std::move(wider);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i)
    names.push_back(table.columns.empty() ? std::to_string(width + i + 1)
                                          : name + " = " + levels[i]);
  if (!table.columns.empty()) table.columns.insert(table.columns.end(), names.begin(), names.end());
  return names;
}

void replace_texts(NamedArray& table, std::vector<std::string>& names, const TextLevels& levels,
                   double without, std::vector<std::string>& replaced) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    const auto found = levels.find(name);
    if (found == levels.end()) {
      if (const auto column = index_of(table, name); column && table.texts.contains(*column))
        throw DataError("column ", name, ": holds texts, but the model learned numbers");
      all.push_back(name);
      continue;
    }
    const std::vector<double> level =
        levels_of_rows(table, require_column(table, name), name, found->second);
    const auto more = append_indicators(table, name, found->second, level, without);
    all.insert(all.end(), more.begin(), more.end());
    replaced.push_back(name);
  }
  names = std::move(all);
}

}  // namespace

TextLevels text_levels(const NamedArray& table, const SeriesColumns& columns) {
  TextLevels levels;
  for (const auto* names : {&columns.known, &columns.fixed})
    for (const std::string& name : *names) {
      const auto column = index_of(table, name);
      if (!column || !table.texts.contains(*column)) continue;
      const std::vector<std::string>& texts = table.texts.at(*column);
      const auto word = std::ranges::find_if_not(texts, is_number);
      if (std::ranges::any_of(texts, is_number) && word != texts.end())
        throw DataError("column ", name, ": holds numbers and texts such as ", excerpt(*word),
                        "; write all as numbers, or all as texts");
      if (texts.size() > most_levels)
        throw DataError("column ", name, ": ", texts.size(), " texts, but ",
                        "covariates have at most ", most_levels);
      levels[name] = texts;
    }
  return levels;
}

std::vector<std::string> flattened_levels(const TextLevels& levels) {
  std::vector<std::string> all;
  for (const auto& [column, texts] : levels)
    for (const std::string& text : texts) all.insert(all.end(), {column, text});
  return all;
}

TextLevels merged_levels(const std::vector<std::string>& known, const TextLevels& seen) {
  TextLevels levels;
  for (std::size_t i = 0; i + 1 < known.size(); i += 2) levels[known[i]].push_back(known[i + 1]);
  for (const auto& [column, texts] : seen)
    for (const std::string& text : texts)
      if (std::ranges::count(levels[column], text) == 0) levels[column].push_back(text);
  return levels;
}

SeriesColumns with_indicators(NamedArray& table, SeriesColumns columns, const TextLevels& levels) {
  std::vector<std::string> replaced;
  replace_texts(table, columns.known, levels, 0, replaced);
  replace_texts(table, columns.fixed, levels, no_text, replaced);
  columns.replaced = std::move(replaced);
  return columns;
}

}  // namespace bochner

#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/tables/mixed_table.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

/// Returns the text of each cell, "" if it is missing.
std::vector<std::string> texts_of(const NamedArray& array, std::size_t column) {
  const auto found = array.texts.find(column);
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < array.values.shape()[0]; ++row) {
    const double value = array.values(row, column);
    texts.push_back(std::isnan(value)            ? ""
                    : found == array.texts.end() ? fmt::format("{:.12g}", value)
                                                 : found->second[std::size_t(value)]);
  }
  return texts;
}

std::vector<double> numbers_of_column(const NamedArray& array, std::size_t column) {
  if (array.texts.contains(column))
    throw DataError("column ", excerpt(column_name(array, column)),
                    " holds texts; name it in data.categories, or leave it out of data.inputs");
  std::vector<double> numbers;
  for (std::size_t row = 0; row < array.values.shape()[0]; ++row) {
    numbers.push_back(array.values(row, column));
    if (std::abs(numbers.back()) > 1e140)
      throw DataError("row ", row + 1, ": column ", excerpt(column_name(array, column)),
                      " holds a number too large to be squared; scale the column");
  }
  return numbers;
}

/// Returns the index of each text among the categories; NaN for others.
std::vector<double> indices_of(const std::vector<std::string>& texts,
                               const std::vector<std::string>& categories) {
  std::vector<double> indices;
  for (const std::string& text : texts) {
    const auto found = std::ranges::find(categories, text);
    indices.push_back(found == categories.end() ? NAN : double(found - categories.begin()));
  }
  return indices;
}

/// Sorts categories, as numbers if all are.
void sort_categories(std::vector<std::string>& categories) {
  const auto number = [](const std::string& text) { return parse_number(text); };
  const bool are_numbers = std::ranges::all_of(
      categories, [&](const std::string& text) { return number(text).has_value(); });
  std::ranges::sort(categories);
  if (are_numbers)
    std::ranges::stable_sort(categories, {},
                             [&](const std::string& text) { return *number(text); });
}

std::vector<std::string> distinct(std::vector<std::string> texts) {
  std::erase(texts, "");
  std::ranges::sort(texts);
  const auto rest = std::ranges::unique(texts);
  texts.erase(rest.begin(), rest.end());
  sort_categories(texts);
  return texts;
}

MixedColumn mixed_column(const NamedArray& array, std::size_t column, bool is_category) {
  MixedColumn mixed{.name = column_name(array, column)};
  if (!is_category) {
    mixed.values = numbers_of_column(array, column);
    return mixed;
  }
  const std::vector<std::string> texts = texts_of(array, column);
  mixed.categories = distinct(texts);
  if (mixed.categories.empty())
    throw DataError("column ", excerpt(mixed.name), " is empty; leave it out of data.inputs");
  mixed.values = indices_of(texts, mixed.categories);
  return mixed;
}

void append_column(MixedColumn& column, const MixedColumn& more) {
  if (column.name != more.name)
    throw DataError("column ", excerpt(more.name), " is where other files have ",
                    excerpt(column.name), "; name the same ones in data.inputs and data.target");
  std::vector<std::string> texts;
  if (column.has_categories()) {
    for (const MixedColumn* each : {&std::as_const(column), &more})
      for (const double x : each->values)
        texts.push_back(std::isnan(x) ? "" : each->categories[std::size_t(x)]);
    column.categories = distinct(texts);
    column.values = indices_of(texts, column.categories);
  } else {
    column.values.insert(column.values.end(), more.values.begin(), more.values.end());
  }
}

double mean_of_known(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double x : values)
    if (!std::isnan(x)) sum += x, ++count;
  return count > 0 ? sum / count : 0;
}

/// Adds the encoding of values of a column; what is missing in `known` decides on its indicator.
void encode(const std::vector<double>& values, const MixedColumn& known, std::size_t group,
            EncodedInputs& encoded) {
  const auto add = [&](const std::string& name, const auto& number) {
    encoded.names.push_back(name);
    encoded.groups.push_back(group);
    encoded.values.emplace_back();
    for (const double x : values) encoded.values.back().push_back(number(x));
  };
  const auto is_nan = [](double x) { return std::isnan(x); };
  for (std::size_t c = 0; c < known.categories.size(); ++c)
    add(known.name + " = " + known.categories[c], [c](double x) { return x == double(c); });
  if (known.has_categories()) return;
  const double mean = mean_of_known(known.values);
  add(known.name, [&](double x) { return std::isnan(x) ? mean : x; });
  if (std::ranges::any_of(known.values, is_nan)) add(known.name + " is missing", is_nan);
}

}  // namespace

MixedTable mixed_table(const NamedArray& array, const TableColumns& wanted) {
  if (array.values.dimension() != 2 || array.values.shape()[0] == 0)
    throw DataError("needs a table, rows and columns");
  const std::size_t target =
      wanted.target.empty() ? array.values.shape()[1] - 1 : require_column(array, wanted.target);
  std::vector<std::size_t> categories;
  for (const std::string& name : wanted.categories)
    if (const auto found = find_column(array.columns, array.values.shape()[1], name))
      categories.push_back(*found);
  const auto column = [&](std::size_t i) {
    return mixed_column(array, i, std::ranges::count(categories, i) > 0);
  };
  MixedTable table;
  for (const std::size_t i : input_columns(array, wanted, target))
    table.inputs.push_back(column(i));
  table.target = column(target);
  return table;
}

void append(MixedTable& table, const MixedTable& more) {
  if (table.inputs.size() != more.inputs.size())
    throw DataError("has ", more.inputs.size(), " inputs, but other files have ",
                    table.inputs.size(), "; name them in data.inputs");
  for (std::size_t j = 0; j < table.inputs.size(); ++j)
    append_column(table.inputs[j], more.inputs[j]);
  append_column(table.target, more.target);
}

MixedTable MixedTable::chosen(const std::vector<std::size_t>& rows) const {
  MixedTable some = *this;
  const auto choose = [&](MixedColumn& column) {
    std::vector<double> values;
    for (const std::size_t row : rows) values.push_back(column.values[row]);
    column.values = std::move(values);
  };
  std::ranges::for_each(some.inputs, choose);
  choose(some.target);
  return some;
}

EncodedInputs encoded_inputs(const MixedTable& table, const MixedTable& known) {
  EncodedInputs encoded;
  for (std::size_t j = 0; j < table.inputs.size(); ++j)
    encode(table.inputs[j].values, known.inputs[j], j, encoded);
  return encoded;
}

EncodedInputs encoded_inputs(const NamedArray& rows, const MixedTable& known,
                             std::vector<std::string>& notes) {
  EncodedInputs encoded;
  for (std::size_t j = 0; j < known.inputs.size(); ++j) {
    const MixedColumn& column = known.inputs[j];
    const std::size_t i = require_column(rows, column.name);
    if (!column.has_categories()) {
      encode(numbers_of_column(rows, i), column, j, encoded);
      continue;
    }
    const std::vector<std::string> texts = texts_of(rows, i);
    std::vector<std::string> unknown = distinct(texts);
    std::erase_if(unknown, [&](const std::string& text) {
      return std::ranges::count(column.categories, text) > 0;
    });
    if (!unknown.empty())
      notes.push_back(in_words("column ", excerpt(column.name), " has categories that the model ",
                               "has not seen, and takes as missing: ", some_of(unknown)));
    encode(indices_of(texts, column.categories), column, j, encoded);
  }
  return encoded;
}

RegressionTable encoded_table(const MixedTable& table, const MixedTable& known) {
  EncodedInputs encoded = encoded_inputs(table, known);
  return {{std::move(encoded.values), table.target.values},
          std::move(encoded.names),
          table.target.name,
          std::nullopt};
}

}  // namespace bochner

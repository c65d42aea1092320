#include <bochner/base/ceil_div.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/series/moments.hpp>
#include <bochner/data/tables/table_rows.hpp>

namespace bochner {
namespace {

/// Largest number whose squares can be summed without overflow.
constexpr double largest_number = 1e140;

constexpr std::uint64_t order_of_held_out = ~std::uint64_t(0);  // an epoch that no run reaches

void require_table(const NamedArray& array) {
  if (array.values.dimension() != 2 || array.values.shape()[0] == 0)
    throw DataError("needs a table, rows and columns of numbers");
}

void require_square(const NamedArray& array, std::size_t row, std::size_t column) {
  if (std::abs(array.values(row, column)) > largest_number)
    throw DataError("row ", row + 1, ": column ", excerpt(column_name(array, column)),
                    " holds a number too large to be squared; scale the column");
}

std::vector<double> known_column(const NamedArray& array, std::size_t column) {
  std::vector<double> numbers;
  for (std::size_t row = 0; row < array.values.shape()[0]; ++row) {
    numbers.push_back(array.values(row, column));
    if (!std::isfinite(numbers.back()))
      throw DataError("row ", row + 1, ": column ", column_name(array, column),
                      ": no input may be missing");
    require_square(array, row, column);
  }
  return numbers;
}

template <class Number>
std::vector<Number> chosen_of(const std::vector<Number>& all,
                              const std::vector<std::size_t>& rows) {
  std::vector<Number> some;
  if (!all.empty())
    for (const std::size_t row : rows) some.push_back(all[row]);
  return some;
}

std::pair<std::vector<std::size_t>, std::vector<std::size_t>> parted(std::size_t n,
                                                                     const TableSpec& spec) {
  const std::uint64_t held = held_out(n, spec.validation);
  std::vector<bool> is_held(n, false);
  for (std::uint64_t i = n - held; i < n; ++i)
    is_held[spec.held_out == "last" ? i : permuted_index(spec.seed, order_of_held_out, i, n)] =
        true;
  std::pair<std::vector<std::size_t>, std::vector<std::size_t>> rows;
  for (std::size_t row = 0; row < n; ++row)
    (is_held[row] ? rows.second : rows.first).push_back(row);
  return rows;
}

std::string columns_in_words(const RegressionTable& table) {
  std::string words;
  for (std::size_t j = 0; j < table.inputs.size(); ++j)
    words += (j == 0 ? "" : ", ") + excerpt(table.inputs[j]) + (table.time == j ? " (dates)" : "");
  return words + " to " + excerpt(table.target);
}

void require_alike(const RegressionTable& first, const RegressionTable& other) {
  if (first.inputs != other.inputs || first.target != other.target || first.time != other.time)
    throw DataError(other.file, ": columns ", columns_in_words(other), ", but those of ",
                    first.file, " are ", columns_in_words(first),
                    "; name the same ones in data.inputs and data.target, in the same form");
}

}  // namespace

Observations Observations::rows(const std::vector<std::size_t>& chosen) const {
  Observations some;
  for (const auto& column : inputs) some.inputs.push_back(chosen_of(column, chosen));
  some.targets = chosen_of(targets, chosen);
  return some;
}

std::vector<std::size_t> input_columns(const NamedArray& array, const TableColumns& wanted,
                                       std::size_t target) {
  std::vector<std::size_t> columns;
  for (const std::string& name : wanted.inputs) columns.push_back(require_column(array, name));
  for (std::size_t i = 0; wanted.inputs.empty() && i < array.values.shape()[1]; ++i)
    if (i != target) columns.push_back(i);
  for (const std::size_t column : columns)
    if (column == target || std::ranges::count(columns, column) > 1)
      throw DataError("column ", column_name(array, column),
                      " is chosen twice among data.inputs and data.target");
  if (columns.empty()) throw DataError("there is no column of inputs next to the target");
  return columns;
}

RegressionTable regression_table(const NamedArray& array, const TableColumns& wanted) {
  require_table(array);
  const std::size_t width = array.values.shape()[1];
  const std::size_t target =
      wanted.target.empty() ? width - 1 : require_column(array, wanted.target);
  RegressionTable table;
  for (const std::size_t column : input_columns(array, wanted, target)) {
    if (array.time == column && !array.numeric_time) table.time = table.inputs.size();
    table.inputs.push_back(column_name(array, column));
    table.observations.inputs.push_back(known_column(array, column));
  }
  table.target = column_name(array, target);
  for (std::size_t row = 0; row < array.values.shape()[0]; ++row) {
    require_square(array, row, target);
    table.observations.targets.push_back(array.values(row, target));
  }
  return table;
}

Observations inputs_of(const NamedArray& array, const RegressionTable& like) {
  require_table(array);
  Observations rows;
  for (const std::string& name : like.inputs)
    rows.inputs.push_back(known_column(array, require_column(array, name)));
  return rows;
}

RegressionTable merged(std::vector<RegressionTable> tables) {
  RegressionTable all = std::move(tables.front());
  for (std::size_t i = 1; i < tables.size(); ++i) {
    const Observations& more = tables[i].observations;
    require_alike(all, tables[i]);
    for (std::size_t j = 0; j < more.inputs.size(); ++j)
      all.observations.inputs[j].insert(all.observations.inputs[j].end(), more.inputs[j].begin(),
                                        more.inputs[j].end());
    all.observations.targets.insert(all.observations.targets.end(), more.targets.begin(),
                                    more.targets.end());
  }
  return all;
}

ColumnUnit unit_of(const std::vector<double>& numbers) {
  const auto [mean, deviation] =
      moments_of([&](const auto& action) { std::ranges::for_each(numbers, action); });
  return {mean, deviation > 0 ? deviation : 1};
}

TableRows::TableRows(RegressionTable table, const TableSpec& spec)
    : table_(std::move(table)), spec_(spec) {
  const Observations& all = table_.observations;
  std::vector<std::size_t> known;
  for (std::size_t row = 0; row < all.size(); ++row)
    if (std::isfinite(all.targets[row])) known.push_back(row);
  const auto [train, held] = parted(known.size(), spec_);
  if (train.size() < 2)
    throw DataError("column ", table_.target, ": needs at least two known values to train on, not ",
                    train.size());
  if (spec_.rows > train.size())
    throw DataError("data.rows = ", spec_.rows, ": there are ", train.size(), " rows to train");
  training_numbers_ = chosen_of(known, train);
  held_numbers_ = chosen_of(known, held);
  set_units(training_units());
  examples_ = {spec_.seed, spec_.rows == 0 ? 1 : train.size() / spec_.rows,
               ceil_div(held.size(), validation_rows)};
}

std::vector<ColumnUnit> TableRows::training_units() const {
  const Observations rows = table_.observations.rows(training_numbers_);
  std::vector<ColumnUnit> units;
  for (const auto& column : rows.inputs) units.push_back(unit_of(column));
  units.push_back(unit_of(rows.targets));
  return units;
}

void TableRows::set_units(std::vector<ColumnUnit> units) {
  units_ = std::move(units);
  training_ = standardized(table_.observations.rows(training_numbers_));
  held_ = standardized(table_.observations.rows(held_numbers_));
}

Observations TableRows::standardized(Observations rows) const {
  for (std::size_t j = 0; j < rows.inputs.size(); ++j)
    for (double& x : rows.inputs[j]) x = units_[j].standard(x);
  for (double& y : rows.targets) y = target_unit().standard(y);
  return rows;
}

Observations TableRows::example(Split split, const Examples::Number& number) const {
  if (split == Split::train)
    return spec_.rows == 0 ? training_ : training_.rows(example_rows(number));
  std::vector<std::size_t> rows;
  const std::size_t first = number.index * validation_rows;
  for (std::size_t i = first; i < std::min(first + validation_rows, held_.size()); ++i)
    rows.push_back(i);
  return held_.rows(rows);
}

std::vector<std::size_t> TableRows::example_rows(const Examples::Number& number) const {
  std::vector<std::size_t> rows;
  for (std::size_t i = number.index * spec_.rows; i < (number.index + 1) * spec_.rows; ++i)
    rows.push_back(permuted_index(spec_.seed, number.epoch, i, training_.size()));
  return rows;
}

std::vector<std::size_t> TableRows::training_numbers(const Examples::Number& number) const {
  return spec_.rows == 0 ? training_numbers_ : chosen_of(training_numbers_, example_rows(number));
}

std::uint64_t TableRows::fingerprint() const {
  std::uint64_t hash = digest_of_elements(table_.observations.targets);
  for (const auto& column : table_.observations.inputs) hash = digest_of_elements(column, hash);
  return examples_.fingerprint(
      "table", {hash, spec_.rows, training_.size(), stream_of(spec_.held_out.c_str())});
}

std::string TableRows::describe() const {
  return in_words(format_number_of(table_.inputs.size(), "input"), " to ", table_.target, ", ",
                  format_number_of(table_.observations.size(), "row"));
}

std::string TableRows::describe_splits() const {
  return in_words(training_.size(), " rows to train, ", held_.size(), " to validate");
}

}  // namespace bochner

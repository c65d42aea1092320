#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/tasks/config_templates/column_roles.hpp>
#include <bochner/train/tasks/config_templates/table_roles.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

constexpr std::size_t most_classes = 100, most_number_classes = 10, most_categories = 30;

/// Names of targets, the most telling first.
constexpr std::string_view target_names[] = {
    "target",    "label", "class",    "y",         "species",  "category", "outcome",
    "diagnosis", "price", "response", "saleprice", "survived", "churn",    "medv"};

/// Returns the column named like a target; "y" beside "x" is a coordinate unless it is the last.
std::optional<std::size_t> named_target(const InferredTable& table) {
  for (const std::string_view name : target_names) {
    const auto column = table.called(name);
    if (!column) continue;
    const bool is_coordinate = name == "y" && table.called("x") && *column + 1 < table.names.size();
    if (!is_coordinate &&
        (std::ranges::count(table.numbers, *column) > 0 || holds_classes(table, *column)))
      return column;
  }
  return std::nullopt;
}

/// Returns the different values of a column in the whole file, without missing ones.
std::set<double> values_of_column(const std::filesystem::path& file, const InferredTable& table,
                                  std::size_t column) {
  ReadOptions reading{.csv = table.options};
  reading.csv.columns = {table.names[column]};
  reading.csv.texts = reading.csv.columns;
  reading.csv.time = reading.csv.time_format = "";
  reading.csv.missing = "nan";
  const NamedArray array = read_array(file, reading);
  std::set<double> values;
  for (const double x : array.values)
    if (!std::isnan(x)) values.insert(x);
  return values;
}

bool are_whole(const std::set<double>& values) {
  return std::ranges::all_of(values, [](double x) { return x == std::floor(x); });
}

/// Returns whether a column holds ids: it is named so, and nearly all whole numbers differ.
bool are_ids(const InferredTable& table, std::size_t column) {
  return names_a_source(table.names[column]) && 10 * table.texts[column] >= 9 * table.sampled &&
         std::ranges::count(table.whole_numbers, column) > 0;
}

bool is_class(const std::filesystem::path& file, const InferredTable& table, std::size_t target) {
  const std::set<double> values = values_of_column(file, table, target);
  const std::string where = in_words(file.string(), ": column ", excerpt(table.names[target]));
  if (std::ranges::count(table.numbers, target) == 0) {
    if (table.request.kind == "regressor")
      throw DataError(where, " holds no numbers; ask for --as classifier");
    if (values.size() > most_classes)
      throw DataError(where, " has ", values.size(),
                      " different texts, too many for classes; name another data.target");
    return true;
  }
  if (values.size() < 2)
    throw DataError(where, " is constant: there is nothing to predict; name another data.target");
  if (table.request.kind == "regressor") return false;
  const bool can_be = are_whole(values) && values.size() <= most_classes;
  if (table.request.kind == "classifier" && !can_be)
    throw DataError(where, " holds numbers, which are no classes; ask for --as regressor");
  return can_be && (table.request.kind == "classifier" ||
                    (values.size() <= most_number_classes && 5 * values.size() <= table.rows));
}

}  // namespace

bool holds_classes(const InferredTable& table, std::size_t column) {
  return std::ranges::count(table.words, column) > 0 && !table.codes.contains(column) &&
         !table.almost_numbers.contains(column) && table.texts[column] <= most_classes &&
         4 * table.texts[column] <= table.sampled;
}

bool names_classes(const InferredTable& table) {
  const auto column = table.has_header ? named_target(table) : std::nullopt;
  return column && std::ranges::count(table.words, *column) > 0;
}

std::size_t target_column(const InferredTable& table) {
  if (!table.request.target.empty()) return *table.called(lower_case(table.request.target));
  const auto named = table.has_header ? named_target(table) : std::nullopt;
  const bool asks_for_class = table.request.kind == "classifier";
  if (named && (!asks_for_class || holds_classes(table, *named))) return *named;
  for (std::size_t i = table.names.size(); asks_for_class && i-- > 0;)
    if (holds_classes(table, i)) return i;
  if (named) return *named;
  for (std::size_t i = table.names.size(); i-- > 0;)
    if (std::ranges::count(table.numbers, i) > 0 || holds_classes(table, i)) return i;
  throw DataError("there is no column of numbers or of classes to predict");
}

TableRoles table_roles(const std::filesystem::path& file, InferredTable& table) {
  TableRoles roles{target_column(table)};
  roles.is_named =
      !table.request.target.empty() || (table.has_header && named_target(table).has_value());
  if (is_class(file, table, roles.target)) roles.categories.push_back(roles.target);
  if (table.numbers.size() > 1) leave_out_useless(file, table);
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    if (i == roles.target) continue;
    if (std::ranges::count(table.numbers, i) > 0) {
      if (are_ids(table, i))
        table.reasons[i] = "ids";
      else
        roles.inputs.push_back(i);
    } else if (holds_classes(table, i) && table.texts[i] > 1 &&
               values_of_column(file, table, i).size() <= most_categories) {
      roles.inputs.push_back(i);
      roles.categories.push_back(i);
    }
  }
  if (roles.inputs.empty())
    throw DataError(file.string(), ": no column is left to predict ",
                    excerpt(table.names[roles.target]), " from");
  return roles;
}

}  // namespace bochner

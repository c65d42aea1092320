#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_header.hpp>
#include <bochner/data/formats/plain_numbers.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

enum class Header { no, yes, unclear };

/// Present cells of a column below the first record.
struct CellsBelow {
  std::vector<double> numbers = {};
  std::size_t texts = 0, decimals = 0;  // cells that are no numbers; numbers like 1.0 and 1e3

  CellsBelow(const CsvSample& sample, std::size_t column, const CsvDialect& dialect) {
    for (std::size_t row = 1; row < sample.size(); ++row) {
      if (column >= sample[row].size() || is_missing_number(sample[row][column])) continue;
      const std::string& text = sample[row][column];
      const auto number = parse_number(text, dialect);
      texts += !number;
      if (number) numbers.push_back(*number);
      decimals += number && text.find_first_of(".,eE") != text.npos;
    }
  }
  bool are_texts() const { return texts > 0 && numbers.empty(); }
  bool are_decimals() const { return decimals > 0 && decimals == numbers.size(); }
  /// Returns whether they count the rows from 0 or 1.
  bool are_index() const {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != numbers[0] + double(i)) return false;
    return !numbers.empty() && texts + decimals == 0 && (numbers[0] == 0 || numbers[0] == 1);
  }
};

/// Returns whether `first` begins an ascending or descending column: its step to the numbers below
/// is at most twice as long as their longest.
bool begins_column(double first, std::vector<double> x) {
  x.insert(x.begin(), first);
  const double sign = x[1] < first ? -1 : 1;
  double longest = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double step = sign * (x[i] - x[i - 1]);
    if (!(step > 0)) return false;
    if (i > 1) longest = std::max(longest, step);
  }
  return sign * (x[1] - first) <= 2 * longest;
}

/// Returns whether `first` lies nearly on the line through the next two numbers.
bool is_on_line(double first, const CellsBelow& below) {
  constexpr double tolerance = 0.02;  // of the range
  const std::vector<double>& x = below.numbers;
  const auto [least, most] = std::ranges::minmax(x);
  return std::abs(first - 2 * x[0] + x[1]) <= tolerance * (most - least);
}

/// Returns whether `first` is outside the range of the numbers below by more than its width.
bool is_far_off(double first, const CellsBelow& below) {
  const auto [least, most] = std::ranges::minmax(below.numbers);
  return first < least - (most - least) || first > most + (most - least);
}

/// Returns whether the numbers differ and are not sorted, as those of edges of a graph may be.
bool are_varied(const CellsBelow& below) {
  constexpr std::size_t several = 10;
  const std::set<double> all(below.numbers.begin(), below.numbers.end());
  return all.size() >= several && !std::ranges::is_sorted(below.numbers);
}

/// Returns whether the names count up by 1 from `first`: 0, 1, 2.
bool count_up(const std::vector<std::string>& names, std::size_t begin, std::size_t first) {
  for (std::size_t i = begin; i < names.size(); ++i)
    if (names[i] != std::to_string(first + i - begin)) return false;
  return begin < names.size();
}

/// Returns whether names are different whole numbers in ascending order, such as years.
bool are_ascending(const std::vector<std::string>& names) {
  for (std::size_t i = 1; i < names.size(); ++i) {
    const auto here = parse_count(names[i]), before = parse_count(names[i - 1]);
    if (!here || (i > 1 && *here <= *before)) return false;
  }
  return true;
}

/// Judges a record that begins with an empty field, in which an index of rows has no name.
Header judge_unnamed_index(const std::vector<std::string>& names,
                           const std::vector<CellsBelow>& below) {
  const std::set<std::string> all(names.begin(), names.end());
  if (names.size() < 2 || all.size() < names.size()) return Header::no;
  if (below[0].are_index() || below[0].are_texts() || count_up(names, 1, 0)) return Header::yes;
  return are_ascending(names) ? Header::unclear : Header::no;
}

/// Judges a record of the numbers 0, 1, 2, .. above records of numbers: it is one of them if it
/// continues them upwards.
Header judge_counted(const std::vector<CellsBelow>& below) {
  const std::size_t width = below.size();
  std::size_t decimals = 0, on_line = 0, far_off = 0;
  for (std::size_t i = 0; i < width; ++i) {
    if (below[i].numbers.size() < 3) return Header::no;
    if (begins_column(double(i), below[i].numbers)) return Header::no;
    decimals += below[i].are_decimals();
    on_line += is_on_line(double(i), below[i]);
    far_off += is_far_off(double(i), below[i]);
  }
  if (on_line == width) return Header::no;
  if (width > 2) return decimals > 0 ? Header::yes : Header::unclear;
  const bool differ = width == 2 && (decimals > 0 || std::ranges::all_of(below, are_varied));
  return differ || far_off == width ? Header::unclear : Header::no;
}

/// Judges a first record without texts.
Header judge(const CsvSample& sample, const CsvDialect& dialect) {
  const std::vector<std::string>& first = sample[0];
  const bool is_unnamed = first[0].empty();
  if (sample.size() < 2 || !(is_unnamed || count_up(first, 0, 0) || count_up(first, 0, 1)))
    return Header::no;
  std::vector<CellsBelow> below;
  for (std::size_t i = 0; i < first.size(); ++i) below.emplace_back(sample, i, dialect);
  if (is_unnamed) return judge_unnamed_index(first, below);
  if (std::ranges::any_of(below, &CellsBelow::are_texts)) return Header::yes;
  return count_up(first, 0, 0) ? judge_counted(below) : Header::no;
}

/// Returns whether a name such as 24h is a number with a unit that the number below lacks.
bool is_name_with_unit(const CsvSample& sample, std::size_t column) {
  const std::string unit = unit_of(sample[0][column]);
  return !unit.empty() && sample.size() > 1 && column < sample[1].size() &&
         unit_of(sample[1][column]) != unit;
}

/// Returns whether the first record is a row like those below: it has a number, and its texts occur
/// below again, as those of classes do.
bool is_row_with_classes(const CsvSample& sample, const CsvDialect& dialect) {
  constexpr std::size_t fewest = 2;
  bool has_numbers = false;
  for (std::size_t i = 0; i < sample[0].size(); ++i) {
    const std::string& field = sample[0][i];
    if (is_missing(field)) continue;
    const bool is_number = parse_number(field, dialect).has_value();
    has_numbers |= is_number;
    std::size_t again = 0;
    for (std::size_t row = 1; row < sample.size() && !is_number; ++row)
      again += i < sample[row].size() && sample[row][i] == field;
    if (!is_number && again < fewest) return false;
  }
  return has_numbers;
}

/// Returns whether the record has all names that a model learned.
bool has_learned_names(const std::vector<std::string>& first, const CsvOptions& options) {
  const auto is_name = [&](const std::string& name) { return std::ranges::count(first, name) > 0; };
  return !options.named_columns.empty() && std::ranges::all_of(options.named_columns, is_name);
}

}  // namespace

bool has_csv_header(const CsvSample& sample, const std::string& name, const CsvDialect& dialect,
                    const CsvOptions& options) {
  if (options.header != "auto") return options.header == "yes";
  const std::vector<std::string>& first = sample.at(0);
  bool has_marks = false, has_values = false;  // "-" is a mark; empty and "NA" are neither
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string& field = first[i];
    if (is_missing(field)) continue;
    const bool is_value = is_csv_value(field, dialect) && !is_name_with_unit(sample, i);
    if (!is_value && !is_missing_number(field)) return !is_row_with_classes(sample, dialect);
    (is_value ? has_values : has_marks) = true;
  }
  if ((has_marks && !has_values) || has_learned_names(first, options)) return true;
  const Header header = judge(sample, dialect);
  std::vector<std::string> shown;
  std::ranges::transform(first, std::back_inserter(shown), excerpt);
  if (header == Header::unclear)
    throw DataError(name, ":1:1: the first row (", some_of(shown),
                    ") may name the columns or hold numbers: set data.header (--header) to "
                    "\"yes\" or \"no\"");
  return header == Header::yes;
}

}  // namespace bochner

#pragma once
#include <algorithm>
#include <bochner/data/formats/csv.hpp>
#include <bochner/train/tasks/config_templates/column_names.hpp>
#include <bochner/train/tasks/config_templates/template_request.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Columns of a table by their values in the first rows.
struct InferredTable {
  std::vector<std::string> names;  ///< column names, or numbers from 1
  std::vector<std::size_t> numbers, times, words, empty;
  std::vector<std::size_t> whole_numbers;  ///< also in `numbers`
  std::vector<std::size_t> compact_dates;  ///< such as 20160701; also in `whole_numbers`
  std::vector<std::size_t> rising;         ///< mostly more than in the row above; `whole_numbers`
  std::vector<std::size_t> row_numbers;    ///< only count the rows; not in `numbers`
  std::vector<std::size_t> measures;       ///< have a unit; also in `numbers`
  std::map<std::size_t, std::string> clocks;   ///< times of day in `words`, and their formats
  std::map<std::size_t, std::string> reasons;  ///< why columns of numbers are not learned
  std::string time_format;                     ///< of dates, "" for ISO 8601
  std::vector<std::size_t> texts;              ///< number of different texts in each column
  std::vector<double> words_per_cell;          ///< mean number of words in each column
  std::size_t sampled = 0;                     ///< rows that were examined
  std::string unread;  ///< error text for numbers or dates in a format that is not read, or ""
  /// Missing values of columns of numbers that have a mark: "load" ("None" in 8 of ..).
  std::map<std::size_t, std::string> marks;
  /// Error texts of columns that are not types: nearly all texts differ and hold digits.
  std::map<std::size_t, std::string> codes;
  /// Error texts of columns of `words` that hold numbers in two units, or mostly numbers.
  std::map<std::size_t, std::string> almost_numbers;
  std::vector<std::size_t> quantities;  ///< in `almost_numbers`: in two units, with decimals
  CsvOptions options;                   ///< format of the file
  TemplateRequest request = {};         ///< with column names of the table
  bool has_header = false;
  std::size_t rows = 0;

  /// Returns the column of this name, in any case, or nothing.
  std::optional<std::size_t> called(std::string_view wanted) const;
  /// Returns why a column is left out, "" if its kind does not tell.
  std::string reason(std::size_t column) const;
};

inline bool is_among(std::size_t column, const std::vector<std::size_t>& columns) {
  return std::ranges::count(columns, column) > 0;
}

/// Infers the columns of a table from its text; `name`: for errors. Throws DataError for a table
/// that is empty, has names that are not UTF-8, may have a header, or has a few other cells in a
/// column of numbers or times.
InferredTable infer_table(std::string_view text, const std::string& name,
                          const CsvOptions& options = {});

/// Returns the names of possible id columns of series: the requested one, or texts, whole numbers,
/// and sizes such as 0.5 l.
std::vector<std::string> id_candidates(const InferredTable& table);
/// Returns the column of times: the requested one, the one named so, or the first one of dates.
std::optional<std::size_t> time_column(const InferredTable& table);
/// Returns the column of event types: the requested one, the one named so, or the one with the
/// fewest different texts if all numbers are times or ids. Throws DataError if these texts are
/// codes or almost numbers.
std::optional<std::size_t> type_column(const InferredTable& table, std::size_t time);
/// Returns the column that identifies sequences of events: the requested one, the one named like an
/// id, or the only other one of texts.
std::optional<std::size_t> sequence_column(const InferredTable& table, std::size_t time,
                                           std::size_t type);

}  // namespace bochner

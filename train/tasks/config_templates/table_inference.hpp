#pragma once
#include <bochner/data/formats/csv.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// The columns of a table by what the first rows hold.
struct InferredTable {
  std::vector<std::string> names;  ///< or numbers from 1
  std::vector<std::size_t> numbers, times, words, empty;
  std::vector<std::size_t> whole_numbers;  ///< of the numbers
  std::vector<std::size_t> row_numbers;    ///< which only count the rows, and are no numbers
  std::vector<std::size_t> texts;          ///< how many there are in each column
  std::size_t sampled = 0;                 ///< rows of which this is known
  std::string unread;  ///< what is wrong with words that people take for numbers or dates, or ""
  CsvOptions options;  ///< how it is written
  bool has_header = false;
  std::size_t rows = 0;

  /// The column of this name in any case, or nothing.
  std::optional<std::size_t> called(std::string_view wanted) const;
};

/// Of a table's text; `name` is for errors. Throws DataError for one that is empty, has names that
/// are not UTF-8, or a column of numbers or times with a few cells that are neither.
InferredTable infer_table(std::string_view text, const std::string& name,
                          const CsvOptions& options = {});

}  // namespace bochner

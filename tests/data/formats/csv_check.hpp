#pragma once
/// Checks of tables as text.

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>

#include "data/messages.hpp"

namespace bochner::csv_check {

inline NamedArray parse(const std::string& text, const CsvOptions& options = {}) {
  return parse_csv(text, "a.csv", options);
}

inline std::string problem(const std::string& text, const CsvOptions& options = {}) {
  return message_of<DataError>([&] { parse(text, options); });
}

inline std::vector<double> numbers(const NamedArray& array) {
  return {array.values.begin(), array.values.end()};
}

}  // namespace bochner::csv_check

#pragma once
/// Numbers with currencies, units and signs of accounts.

#include <bochner/data/formats/csv_dialect.hpp>

namespace bochner {

/// A number and its unit: -1.5 and "%" of "(1.5 %)", 2500 and "k" of "2.5k", 12 and "EUR" of
/// "EUR 12"; "" without one.
struct NumberWithUnit {
  double number = 0;
  std::string unit = {};
};
/// Parses a number that has a unit, a currency, quotes between thousands, a sign after it or the
/// brackets of negative numbers. Multiples (k, M, bn) are multiplied. Nothing for dates and others.
std::optional<NumberWithUnit> parse_quantity(std::string_view text, const CsvDialect& dialect);

/// Returns the number of such a text in its own decimal mark: "1'000.50 €" as "1000.50", "(12)" and
/// "12-" as "-12". Another text as it is.
std::string without_unit(std::string_view text);
/// Returns the unit of a number, "" for other texts: "kWh" of "256.6 kWh", "%" of "5%".
std::string unit_of(std::string_view text);
/// Returns whether a unit multiplies its number: k, M, bn.
bool is_multiple(std::string_view unit);

/// The unit of a column.
class ColumnUnits {
 public:
  /// Returns false if a number has another unit than those before. Zeros, and numbers next to
  /// multiples, need none.
  bool accept(const NumberWithUnit& quantity);
  /// Returns the unit, "" without one or for multiples.
  const std::string& unit() const { return unit_; }

 private:
  std::string unit_;
  bool has_plain_ = false;
};

}  // namespace bochner

#pragma once
/// Numbers with currencies, units and separators, which tables do not read.

#include <string>
#include <string_view>

namespace bochner {

/// Returns a number without separators, currency and unit: "1'000.50 €", "50.7%", "−3"; "(12)"
/// and "12-" become "-12", "1.2k" becomes "1200".
std::string plain_number(std::string_view text);
/// Returns whether a number has separators or symbols such as "%" and "€".
bool is_formatted_number(const std::string& text);
/// Returns the unit in letters before or after a number: "kWh" of "256.6 kWh", "EUR" of "EUR 12";
/// "" for other texts.
std::string unit_of(std::string_view text);
/// Returns whether a unit multiplies its number: k, M, bn.
bool is_multiple(std::string_view unit);

}  // namespace bochner

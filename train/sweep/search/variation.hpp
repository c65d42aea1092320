#pragma once
/// Variation of a sweep: a config key with a list of values or a range.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Range of numbers, ends included.
struct SearchRange {
  double low = 0, high = 1;
  bool logarithmic = false;  ///< uniform in the logarithm
  bool whole = false;        ///< whole numbers only
};

/// Condition that another key has one of these values.
struct Condition {
  std::string key;
  std::vector<std::string> values;
};

struct Variation {
  std::string key;
  std::vector<std::string> values = {};     ///< of a list; empty for a range
  std::optional<SearchRange> range = {};    ///< instead of values
  std::optional<Condition> condition = {};  ///< if empty, the key is always varied
};

/// Parses a variation. "optim.lr=1e-3,3e-3" has values between commas; commas within brackets,
/// braces or quotes belong to a value. "optim.lr=1e-4..1e-2:log" is a range, linear or logarithmic;
/// ":log2" makes the list of doublings from its low end. " if model.mixer.kind=linear" adds a
/// condition. Throws std::invalid_argument.
Variation parse_variation(std::string_view text);

/// Throws std::invalid_argument if a key is varied twice, a value is repeated, or a condition names
/// a key that is not varied before it by a list with these values.
void require_sound(const std::vector<Variation>& variations);

/// Whether its condition holds; needs values up to the variation that it names.
bool holds(const Variation& variation, const std::vector<Variation>& variations,
           const std::vector<std::string>& values);

/// Formats a number for the config: whole ones in digits, unlike 1e+05.
std::string number_text(double number);
/// Converts a text to a part of a directory name.
std::string plain_name(std::string text);
/// Returns the last words of the keys, or whole keys if these are ambiguous.
std::vector<std::string> short_names(const std::vector<Variation>& variations);

}  // namespace bochner

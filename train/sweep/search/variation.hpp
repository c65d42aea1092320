#pragma once
/// What a sweep varies: a config key with a list of values or a range.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// All numbers between two, the ends included.
struct SearchRange {
  double low = 0, high = 1;
  bool logarithmic = false;  ///< even in its logarithm
  bool whole = false;        ///< whole numbers only
};

/// Holds where another key has one of these values.
struct Condition {
  std::string key;
  std::vector<std::string> values;
};

struct Variation {
  std::string key;
  std::vector<std::string> values = {};     ///< of a list; none of a range
  std::optional<SearchRange> range = {};    ///< else the values
  std::optional<Condition> condition = {};  ///< without it the key is varied always
};

/// "optim.lr=1e-3,3e-3": values between commas; those within brackets, braces or quotes belong to
/// the value. "optim.lr=1e-4..1e-2:log": a range, linear or logarithmic; ":log2" makes the list of
/// doublings from its low end. What follows " if ", "model.mixer.kind=linear", is a condition.
/// Throws std::invalid_argument.
Variation parse_variation(std::string_view text);

/// Throws std::invalid_argument where a key is varied twice, a value stands twice, or a condition
/// names what is not varied before it by a list with these values.
void require_sound(const std::vector<Variation>& variations);

/// Whether its condition holds; the values are those of the variations, at least up to the one that
/// the condition names.
bool holds(const Variation& variation, const std::vector<Variation>& variations,
           const std::vector<std::string>& values);

/// A number as the config takes it: whole ones in digits, which 1e+05 is not.
std::string number_text(double number);
/// The text as part of the name of a directory.
std::string plain_name(std::string text);
/// The last words of the keys, or the whole keys where these are not all different.
std::vector<std::string> short_names(const std::vector<Variation>& variations);

}  // namespace bochner

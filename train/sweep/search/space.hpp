#pragma once
/// Variations of a sweep, config keys with a list of values or a range, and the search space: their
/// values as points of the unit cube, an axis per key.

#include <cstddef>
#include <optional>
#include <set>
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

/// One text per variation; "" if its condition does not hold.
using Values = std::vector<std::string>;

class Space {
 public:
  /// Makes a space. Throws std::invalid_argument as require_sound() does.
  explicit Space(std::vector<Variation> variations);

  std::size_t size() const { return variations_.size(); }
  /// Returns the variations, with lists of numbers sorted.
  const std::vector<Variation>& variations() const { return variations_; }
  /// Whether an axis has distances, as numbers do; values of other axes are equal or not.
  bool is_ordered(std::size_t axis) const { return ordered_[axis]; }
  /// Whether an axis has uncountably many values: a range that is not of whole numbers.
  bool is_continuous(std::size_t axis) const {
    return variations_[axis].range && !variations_[axis].range->whole;
  }
  /// Returns the positions of a discrete axis's values, evenly thinned if there are many.
  std::vector<double> levels(std::size_t axis) const;

  /// Returns the values at a point, numbers of a continuous range with four digits. point (size(),)
  Values at(const std::vector<double>& point) const;
  /// Returns values that are not in `known`, searched along the axes from a point; nothing if all
  /// are known, or if an axis has too many. point (size(),)
  std::optional<Values> find_unknown(const std::vector<double>& point,
                                     const std::set<Values>& known) const;
  /// Returns the point of values: the middle of their cell, or of the axis without. -> (size(),)
  std::vector<double> place(const Values& values) const;

 private:
  std::string value_at(const Variation& variation, double part) const;
  /// Completes values of the first axes.
  bool find_unknown(Values& begun, const std::vector<double>& point,
                    const std::set<Values>& known) const;
  double place_of(const Variation& variation, const std::string& value) const;

  std::vector<Variation> variations_;
  std::vector<bool> ordered_;
};

/// Returns KEY=VALUE for each key that is varied here.
std::vector<std::string> sets_of(const std::vector<Variation>& variations, const Values& values);

}  // namespace bochner

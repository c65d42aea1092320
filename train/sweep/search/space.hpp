#pragma once
/// Search space: the values of varied keys as points of the unit cube, an axis per key.

#include <bochner/train/sweep/search/variation.hpp>
#include <cstddef>
#include <set>

namespace bochner {

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
  bool is_continuous(std::size_t axis) const;
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

#pragma once
/// The values of varied keys as points of the unit cube, an axis for each key.

#include <bochner/train/sweep/search/variation.hpp>
#include <cstddef>
#include <set>

namespace bochner {

/// One text for each variation; "" where its condition does not hold.
using Values = std::vector<std::string>;

class Space {
 public:
  /// Throws std::invalid_argument as require_sound() does.
  explicit Space(std::vector<Variation> variations);

  std::size_t size() const { return variations_.size(); }
  /// Lists of numbers in their order.
  const std::vector<Variation>& variations() const { return variations_; }
  /// Axes of numbers have distances; on the others values are equal or not.
  bool is_ordered(std::size_t axis) const { return ordered_[axis]; }
  /// Whether there are more values than anybody counts: those of a range that are not whole.
  bool is_continuous(std::size_t axis) const;
  /// Where the values of another axis stand; of many whole numbers some, evenly.
  std::vector<double> levels(std::size_t axis) const;

  /// The values at a point, numbers of a continuous range with four digits. point (size(),)
  Values at(const std::vector<double>& point) const;
  /// Values that are not in `known`, searched along the axes from those at a point on; none where
  /// all are known, or where an axis has more than anybody counts. point (size(),)
  std::optional<Values> find_unknown(const std::vector<double>& point,
                                     const std::set<Values>& known) const;
  /// Where values stand: the middle of their cell, and of the axis where they have none. ->
  /// (size(),)
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

/// KEY=VALUE for each key that is varied here.
std::vector<std::string> sets_of(const std::vector<Variation>& variations, const Values& values);

}  // namespace bochner

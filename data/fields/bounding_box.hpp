#pragma once
#include <cstddef>
#include <vector>

namespace bochner {

/// Smallest coordinates of a set of places, and their range. (d) each
struct BoundingBox {
  std::vector<double> origin, extent;
};
/// Returns the bounding box of places (n, d); an extent of 0 becomes 1.
BoundingBox bounding_box_of(const std::vector<double>& places, std::size_t dimensions);

}  // namespace bochner

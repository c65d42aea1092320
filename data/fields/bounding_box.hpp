#pragma once
#include <cstddef>
#include <vector>

namespace bochner {

/// Where the coordinates of places begin, and how far they reach. (d) each
struct BoundingBox {
  std::vector<double> origin, extent;
};
/// Of places (n, d); an extent of 0 counts as 1.
BoundingBox bounding_box_of(const std::vector<double>& places, std::size_t dimensions);

}  // namespace bochner

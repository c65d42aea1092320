#pragma once
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/encodings/token_places.hpp>
#include <bochner/train/charts/page.hpp>

namespace bochner {

/// Nodes at which an encoding is drawn, in its units, and labels of places and times.
struct DrawnGrid {
  GridAxes space;
  std::vector<double> times;
  std::string place = "place", time = "time";
};
/// Returns a grid of `nodes` along time and each of `dimensions` axes, over the range 0 to 1.
DrawnGrid even_grid(std::size_t dimensions, std::size_t nodes);
/// Returns all pixels of an image, or the first places of the first parts of a text.
DrawnGrid grid_of(const TokenPlacesSpec& spec);

/// Part of a grid that is drawn: all of one or two dimensions, the middle plane of three.
struct Plane {
  std::size_t rows = 1, columns, first = 0;  ///< first: among the nodes of the grid

  explicit Plane(const std::vector<std::size_t>& sides);
  std::size_t size() const { return rows * columns; }
};

/// Adds a section with the encoding of a model by place and by time, and its inner products with
/// one place and among times; nothing for a model without one.
void add_encoding(Page& page, Module& model, const DrawnGrid& grid);

}  // namespace bochner

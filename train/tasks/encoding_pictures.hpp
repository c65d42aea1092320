#pragma once
/// The encoding of place and time of a model in pictures: its channels and its kernel.

#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/encodings/token_places.hpp>
#include <bochner/train/charts/page.hpp>

namespace bochner {

/// Where an encoding is drawn, in its units, and what places and times are called.
struct DrawnGrid {
  GridAxes space;
  std::vector<double> times;
  std::string place = "place", time = "time";
};
/// `nodes` along each of so many axes of space and of time, over the reach of the data: 0 to 1.
DrawnGrid even_grid(std::size_t dimensions, std::size_t nodes);
/// All pixels of an image, or the first places of the first parts of a text.
DrawnGrid grid_of(const TokenPlacesSpec& spec);

/// What is drawn of something on a grid: all of one or two dimensions, and the plane in the middle
/// of three.
struct Plane {
  std::size_t rows = 1, columns, first = 0;  ///< first: among the nodes of the grid

  explicit Plane(const std::vector<std::size_t>& sides);
  std::size_t size() const { return rows * columns; }
};

/// A section with the encoding of a model by place and by time, and its inner products with one
/// place and among times; nothing for a model that has none.
void add_encoding(Page& page, Module& model, const DrawnGrid& grid);

}  // namespace bochner

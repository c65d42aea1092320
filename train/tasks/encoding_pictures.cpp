#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <numeric>

namespace bochner {
namespace {

/// Encoding of N places and T times in E channels. (T, N, E)
struct Encoding {
  const DrawnGrid& grid;
  std::size_t times, places;
  Plane plane;
  std::size_t channels;
  std::vector<double> values;

  const double* row(std::size_t i) const { return values.data() + i * channels; }
};

Encoding encoding_of(SpaceTimeEncoding& encoder, const DrawnGrid& grid) {
  Tape tape({.recording = false});
  const Tensor code = encoder.grid(tape, grid.space, grid.times).value();
  std::vector<std::size_t> sides;
  for (const std::vector<double>& axis : grid.space) sides.push_back(axis.size());
  return {grid,         code.shape()[0], code.shape()[1],
          Plane(sides), code.shape()[2], std::vector<double>(code.begin(), code.end())};
}

double product(const Encoding& encoding, std::size_t a, std::size_t b) {
  return std::inner_product(encoding.row(a), encoding.row(a + 1), encoding.row(b), 0.0);
}

/// Draws the kernel with the middle place at the middle time, scaled to 1 there.
HeatMap kernel_in_space(const Encoding& encoding) {
  const Plane& plane = encoding.plane;
  HeatMap map{"kernel: one place with all", "x", "y", plane.rows, plane.columns};
  const std::size_t first = encoding.times / 2 * encoding.places + plane.first;
  const std::size_t middle = first + plane.rows / 2 * plane.columns + plane.columns / 2;
  for (std::size_t n = 0; n < plane.size(); ++n)
    map.values.push_back(product(encoding, middle, first + n) / product(encoding, middle, middle));
  return map;
}

/// Draws the kernel of the first place between all times, scaled to 1 at the first time.
HeatMap kernel_in_time(const Encoding& encoding) {
  const std::string& time = encoding.grid.time;
  HeatMap map{"kernel: one place, all times", time, time, encoding.times, encoding.times};
  const std::size_t places = encoding.places;
  for (std::size_t t = 0; t < encoding.times; ++t)
    for (std::size_t s = 0; s < encoding.times; ++s)
      map.values.push_back(product(encoding, t * places, s * places) / product(encoding, 0, 0));
  return map;
}

/// Draws rows 0, stride, 2 stride, ... of the encoding.
HeatMap channels_of(const Encoding& encoding, const std::string& title, const std::string& label,
                    std::size_t count, std::size_t stride) {
  HeatMap map{title, "channel", label, count, encoding.channels};
  for (std::size_t i = 0; i < count; ++i)
    map.values.insert(map.values.end(), encoding.row(i * stride), encoding.row(i * stride + 1));
  return map;
}

/// Returns 0, 1 / unit, ..., (count - 1) / unit.
std::vector<double> steps(std::size_t count, std::size_t unit) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(double(i) / double(unit));
  return numbers;
}

}  // namespace

DrawnGrid even_grid(std::size_t dimensions, std::size_t nodes) {
  const std::vector<double> axis = steps(nodes, nodes);
  return {GridAxes(dimensions, axis), axis};
}

DrawnGrid grid_of(const TokenPlacesSpec& spec) {
  constexpr std::size_t most_places = 64, most_parts = 32;
  if (spec.rows > 0)
    return {{steps(spec.rows, spec.rows), steps(spec.columns, spec.columns)},
            steps(spec.channels, spec.channels),
            "pixel",
            "channel of the image"};
  return {{steps(std::min(most_places, spec.length), spec.length)},
          steps(std::min(most_parts, spec.length), spec.length),
          "place in the line",
          "line"};
}

Plane::Plane(const std::vector<std::size_t>& sides) : columns(sides.back()) {
  if (sides.size() > 1) rows = sides[sides.size() - 2];
  if (sides.size() > 2) first = sides[0] / 2 * rows * columns;
}

void add_encoding(Page& page, Module& model, const DrawnGrid& grid) {
  SpaceTimeEncoding* encoder = nullptr;
  for (const NamedPart& named : parts_of(model))
    if (auto* found = dynamic_cast<SpaceTimeEncoding*>(named.part)) encoder = found;
  if (!encoder) return;
  const Encoding encoding = encoding_of(*encoder, grid);
  const std::size_t places = encoding.places;
  std::vector<std::string> charts{
      draw(channels_of(encoding, "encoding by place", grid.place, places, 1))};
  if (encoding.times > 1)
    charts.push_back(
        draw(channels_of(encoding, "encoding by time", grid.time, encoding.times, places)));
  charts.push_back(draw(kernel_in_space(encoding)));
  if (encoding.times > 1) charts.push_back(draw(kernel_in_time(encoding)));
  page.section("Encoding of space and time",
               fmt::format("Channels of all places of the first {}, row by row, and of all times "
                           "of the first place; then its kernel, the inner products.",
                           grid.time));
  page.charts(charts, card_width(heat_map_width));
}

}  // namespace bochner

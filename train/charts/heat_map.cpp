#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/canvas.hpp>
#include <bochner/train/charts/markup.hpp>
#include <bochner/train/charts/picture.hpp>
#include <cmath>

namespace bochner {
namespace {

std::vector<std::uint8_t> pixels_of(const HeatMap& map, double low, double high) {
  std::vector<std::uint8_t> pixels(map.rows * map.columns, blank_pixel);
  for (std::size_t i = 0; i < pixels.size() && i < map.values.size(); ++i) {
    if (!std::isfinite(map.values[i])) continue;
    const double part = std::clamp((map.values[i] - low) / (high - low), 0.0, 1.0);
    pixels[i] = std::uint8_t(std::lround(254 * part));
  }
  return pixels;
}

std::string image(const std::string& data, const Rectangle& box) {
  return fmt::format(
      R"(<image href="{}" x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none" )"
      R"(style="image-rendering:pixelated"/>)",
      data, coordinate(box.left), coordinate(box.top), coordinate(box.right - box.left),
      coordinate(box.bottom - box.top));
}

/// The colours from left to right between their two ends.
void draw_scale(Canvas& canvas, const Rectangle& box, double low, double high) {
  std::vector<std::uint8_t> ramp(255);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = std::uint8_t(i);
  canvas.text(box.left - 6, box.bottom, short_number(low), "tick", "end");
  canvas.raw(image(png_data(ramp, 1, ramp.size()), box));
  canvas.text(box.right + 6, box.bottom, short_number(high), "tick");
}

}  // namespace

std::string draw(const HeatMap& map) {
  Canvas canvas(map.width, map.height);
  Extent extent;
  for (const double value : map.values) extent.add(value, Scale::linear);
  const double low = map.lowest.value_or(extent.low);
  double high = map.highest.value_or(extent.high);
  if (!(high > low)) high = low + 1;
  const double top = canvas.header(map.title, "", {}) + 4;
  const Rectangle box{18, top, map.width - 4, map.height - 38};
  canvas.raw(image(png_data(pixels_of(map, low, high), map.rows, map.columns), box));
  canvas.text((box.left + box.right) / 2, box.bottom + 15, map.x_label, "label", "middle");
  canvas.raw(fmt::format(
      R"--(<text class="label" transform="translate(12 {}) rotate(-90)" text-anchor="middle">{}</text>)--",
      coordinate((box.top + box.bottom) / 2), escaped(map.y_label)));
  const double half = (box.right - box.left) / 4, middle = (box.left + box.right) / 2;
  draw_scale(canvas, {middle - half, map.height - 12, middle + half, map.height - 4}, low, high);
  return canvas.finish(map.title);
}

}  // namespace bochner

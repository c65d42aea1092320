#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bochner/base/format.hpp>
#include <bochner/data/files/gzip.hpp>
#include <bochner/train/charts/canvas.hpp>
#include <cmath>
#include <span>
#include <utility>

namespace bochner {
namespace {

using Colour = std::array<double, 3>;

/// Stops of the colour table: lightness rises evenly, so colour-blind readers see the order too.
constexpr Colour rising[] = {{26, 20, 58},   {62, 28, 110},   {112, 34, 122},
                             {163, 48, 113}, {210, 72, 92},   {240, 110, 70},
                             {251, 158, 70}, {250, 206, 105}, {252, 246, 190}};
/// Diverging stops: colour-blind readers can distinguish blue and red too.
constexpr Colour both_ways[] = {{17, 60, 120},   {50, 118, 182},  {131, 183, 216},
                                {205, 224, 237}, {246, 246, 244}, {250, 214, 192},
                                {232, 144, 108}, {196, 62, 58},   {118, 12, 38}};

std::array<std::uint8_t, 3> palette_colour(std::size_t entry, Colours colours) {
  const std::span<const Colour> stops =
      colours == Colours::diverging ? std::span<const Colour>(both_ways) : rising;
  const double place = double(entry) / 254 * double(stops.size() - 1);
  const std::size_t stop = std::min(std::size_t(place), stops.size() - 2);
  std::array<std::uint8_t, 3> colour;
  for (std::size_t i = 0; i < 3; ++i)
    colour[i] = std::uint8_t(std::lround(
        stops[stop][i] + (place - double(stop)) * (stops[stop + 1][i] - stops[stop][i])));
  return colour;
}

void append_number(std::string& bytes, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += char(number >> shift & 0xff);
}

void append_chunk(std::string& png, const std::string& type, const std::string& data) {
  append_number(png, std::uint32_t(data.size()));
  png += type + data;
  append_number(png, crc32_of(bytes_of(type + data)));
}

std::string base64(const std::string& bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t j = 0; j < 3; ++j)
      word = word << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j < bytes.size() + 1 ? digits[word >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::vector<std::uint8_t> pixels_of(const HeatMap& map, double low, double high) {
  std::vector<std::uint8_t> pixels(map.rows * map.columns, blank_pixel);
  for (std::size_t i = 0; i < pixels.size() && i < map.values.size(); ++i) {
    if (!std::isfinite(map.values[i])) continue;
    const double part = std::clamp((map.values[i] - low) / (high - low), 0.0, 1.0);
    pixels[i] = std::uint8_t(std::lround(254 * part));
  }
  return pixels;
}

std::pair<double, double> ends_of(const HeatMap& map) {
  Extent extent;
  extent.add(map.values, Scale::linear);
  const double low = map.lowest.value_or(extent.low), high = map.highest.value_or(extent.high);
  if (map.colours == Colours::sequential) return {low, high > low ? high : low + 1};
  const double reach = std::max(std::fabs(low), std::fabs(high));
  return {reach > 0 ? -reach : -1, reach > 0 ? reach : 1};
}

std::string image(const std::string& data, const Rectangle& box) {
  return fmt::format(
      R"(<image href="{}" x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none" )"
      R"(style="image-rendering:pixelated"/>)",
      data, coordinate(box.left), coordinate(box.top), coordinate(box.right - box.left),
      coordinate(box.bottom - box.top));
}

/// Draws a frame around a cell, light on dark so that it shows on every colour.
void outline(Canvas& canvas, const HeatMap& map, const Rectangle& box) {
  const double width = (box.right - box.left) / double(map.columns),
               height = (box.bottom - box.top) / double(map.rows);
  const double left = box.left + double(*map.outlined % map.columns) * width,
               top = box.top + double(*map.outlined / map.columns) * height;
  for (const char* style : {"outline dark", "outline"})
    canvas.raw(fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>)", style,
                           coordinate(left), coordinate(top), coordinate(width),
                           coordinate(height)));
}

/// Draws the colours from left to right between their two ends.
void draw_scale(Canvas& canvas, const Rectangle& box, double low, double high, Colours colours) {
  std::vector<std::uint8_t> ramp(255);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = std::uint8_t(i);
  canvas.text(box.left - 6, box.bottom, short_number(low), "tick", "end");
  canvas.raw(image(png_data(ramp, 1, ramp.size(), colours), box));
  canvas.text(box.right + 6, box.bottom, short_number(high), "tick");
}

}  // namespace

std::string png_data(const std::vector<std::uint8_t>& pixels, std::size_t rows, std::size_t columns,
                     Colours colours) {
  std::string png = "\x89PNG\r\n\x1a\n", header, palette, scanlines;
  append_number(header, std::uint32_t(columns));
  append_number(header, std::uint32_t(rows));
  header += std::string("\x08\x03\x00\x00\x00", 5);  // 8 bits, palette
  for (std::size_t entry = 0; entry < 256; ++entry)
    for (const std::uint8_t part : palette_colour(std::min<std::size_t>(entry, 254), colours))
      palette += char(part);
  for (std::size_t row = 0; row < rows; ++row) {
    scanlines += '\0';
    scanlines.append(reinterpret_cast<const char*>(pixels.data()) + row * columns, columns);
  }
  append_chunk(png, "IHDR", header);
  append_chunk(png, "PLTE", palette);
  append_chunk(png, "tRNS", std::string(255, '\xff') + '\0');
  const Bytes packed = zlib_stream(bytes_of(scanlines));
  append_chunk(png, "IDAT", {packed.begin(), packed.end()});
  append_chunk(png, "IEND", "");
  return "data:image/png;base64," + base64(png);
}

std::string draw(const HeatMap& map) {
  constexpr double width = heat_map_width, height = 270;
  Canvas canvas(width, height);
  const auto [low, high] = ends_of(map);
  const double top = canvas.header(map.title, "", {}) + 4;
  const Rectangle box{18, top, width - 4, height - 38};
  canvas.raw(image(png_data(pixels_of(map, low, high), map.rows, map.columns, map.colours), box));
  if (map.outlined) outline(canvas, map, box);
  canvas.text((box.left + box.right) / 2, box.bottom + 15, map.x_label, "label", "middle");
  canvas.raw(fmt::format(
      R"--(<text class="label" transform="translate(12 {}) rotate(-90)" text-anchor="middle">{}</text>)--",
      coordinate((box.top + box.bottom) / 2), escaped(map.y_label)));
  const double half = (box.right - box.left) / 4, middle = (box.left + box.right) / 2;
  draw_scale(canvas, {middle - half, height - 12, middle + half, height - 4}, low, high,
             map.colours);
  return canvas.finish(map.title);
}

}  // namespace bochner

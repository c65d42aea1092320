#include <algorithm>
#include <array>
#include <bochner/data/files/gzip.hpp>
#include <bochner/train/charts/picture.hpp>
#include <cmath>

namespace bochner {
namespace {

using Colour = std::array<double, 3>;

/// Stops of the colour table: lightness rises evenly, and colour-blind readers see an order too.
constexpr Colour stops[] = {{26, 20, 58},   {62, 28, 110},   {112, 34, 122},
                            {163, 48, 113}, {210, 72, 92},   {240, 110, 70},
                            {251, 158, 70}, {250, 206, 105}, {252, 246, 190}};

std::array<std::uint8_t, 3> palette_colour(std::size_t entry) {
  const double place = double(entry) / 254 * double(std::size(stops) - 1);
  const std::size_t stop = std::min(std::size_t(place), std::size(stops) - 2);
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

}  // namespace

std::string png_data(const std::vector<std::uint8_t>& pixels, std::size_t rows,
                     std::size_t columns) {
  std::string png = "\x89PNG\r\n\x1a\n", header, palette, scanlines;
  append_number(header, std::uint32_t(columns));
  append_number(header, std::uint32_t(rows));
  header += std::string("\x08\x03\x00\x00\x00", 5);  // eight bits of a colour table
  for (std::size_t entry = 0; entry < 256; ++entry)
    for (const std::uint8_t part : palette_colour(std::min<std::size_t>(entry, 254)))
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

}  // namespace bochner

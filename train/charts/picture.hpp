#pragma once
/// Pictures inside a page, without a file of their own.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bochner {

/// Entries of the colour table; the last one is transparent and means "nothing here".
inline constexpr std::uint8_t blank_pixel = 255;

/// "data:image/png;base64,...": pixels (rows, columns) of a colour table from dark violet to light
/// yellow, 0 to 254, even in lightness.
std::string png_data(const std::vector<std::uint8_t>& pixels, std::size_t rows,
                     std::size_t columns);

}  // namespace bochner

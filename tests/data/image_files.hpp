#pragma once

#include <string>
#include <vector>

namespace bochner {

/// Returns an IDX file of bytes.
inline std::string idx_file(const std::vector<std::size_t>& shape, const std::string& bytes) {
  std::string file("\0\0\x08", 3);
  file += char(shape.size());
  for (const std::size_t size : shape)
    for (int shift = 24; shift >= 0; shift -= 8) file += char(size >> shift & 0xff);
  return file + bytes;
}

/// Returns a CIFAR record with pixel (y, x) = (y, x, 7).
inline std::string cifar_record_of(const std::string& labels) {
  std::string red, green;
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x) red += char(y), green += char(x);
  return labels + red + green + std::string(1024, '\7');
}

}  // namespace bochner

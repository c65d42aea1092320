#pragma once

#include <bochner/data/files/gzip.hpp>
#include <string>

namespace bochner {

/// Returns the contents of a gzip file that holds `text`.
inline std::string gzip(const std::string& text) {
  const Bytes packed = deflate(bytes_of(text));
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  file.append(packed.begin(), packed.end());
  for (const std::uint32_t number : {crc32_of(bytes_of(text)), std::uint32_t(text.size())})
    for (int shift = 0; shift < 32; shift += 8) file += char(number >> shift & 0xff);
  return file;
}

}  // namespace bochner

#pragma once

#include <bochner/base/text.hpp>
#include <string>

namespace bochner {

/// Returns an integer of some bytes, the least significant first.
inline std::string little_endian(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += char(number >> (8 * i) & 0xff);
  return text;
}

/// Format of a WAV file, and the sizes that its header claims.
struct WavHeader {
  std::size_t bits = 16, channels = 1, rate = 8000;
  bool is_float = false;
  std::size_t claimed = 0;  ///< bytes of samples more than there are
};

/// Returns a WAV file of encoded samples.
inline std::string wav_bytes(const std::string& samples, const WavHeader& header = {}) {
  const std::size_t frame = header.channels * header.bits / 8;
  const std::string format = little_endian(header.is_float ? 3 : 1, 2) +
                             little_endian(header.channels, 2) + little_endian(header.rate, 4) +
                             little_endian(header.rate * frame, 4) + little_endian(frame, 2) +
                             little_endian(header.bits, 2);
  const std::string chunks = "WAVEfmt " + little_endian(format.size(), 4) + format + "data" +
                             little_endian(samples.size() + header.claimed, 4) + samples;
  return "RIFF" + little_endian(chunks.size() + header.claimed, 4) + chunks;
}

}  // namespace bochner

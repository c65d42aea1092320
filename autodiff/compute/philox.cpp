#include <Random123/philox.h>

#include <bochner/autodiff/compute/philox.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// 52 bits centred in their cells: never 0 and never 1.
double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t(high) << 20) | (low >> 12);
  return (double(bits) + 0.5) * 0x1p-52;
}

}  // namespace

std::array<std::uint32_t, 4> RandomFunction::bits(std::uint64_t element) const {
  const std::uint64_t key = seed ^ (std::uint64_t(purpose) * 0x9E3779B97F4A7C15u);
  r123::Philox4x32::ctr_type counter = {{std::uint32_t(element), std::uint32_t(element >> 32),
                                         std::uint32_t(stream), std::uint32_t(stream >> 32)}};
  r123::Philox4x32::key_type philox_key = {{std::uint32_t(key), std::uint32_t(key >> 32)}};
  const auto out = r123::Philox4x32()(counter, philox_key);
  return {out[0], out[1], out[2], out[3]};
}

double RandomFunction::uniform(std::uint64_t element) const {
  const auto word = bits(element);
  return open_unit(word[0], word[1]);
}

double RandomFunction::normal(std::uint64_t element) const {
  const auto word = bits(element);
  const double radius = std::sqrt(-2 * std::log(open_unit(word[0], word[1])));
  return radius * std::cos(2 * std::numbers::pi * open_unit(word[2], word[3]));
}

std::uint64_t RandomFunction::integer(std::uint64_t element, std::uint64_t bound) const {
  const auto word = bits(element);
  const std::uint64_t random = (std::uint64_t(word[0]) << 32) | word[1];
  return std::uint64_t((static_cast<unsigned __int128>(random) * bound) >> 64);
}

std::uint64_t stream_of(const char* name) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (; *name; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001B3u;
  return hash;
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <Random123/philox.h>

#include <algorithm>
#include <bochner/base/numeric/philox.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bochner {
namespace {

/// Maps 52 bits to the centre of their cell: never 0 or 1.
double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t(high) << 20) | (low >> 12);
  return (double(bits) + 0.5) * 0x1p-52;
}

std::uint64_t key_of(const RandomFunction& random) {
  return random.seed ^ (std::uint64_t(random.purpose) * 0x9E3779B97F4A7C15u);
}

/// The ten rounds on several counters in a vectorisable form: word w of counter i is word[w][i].
constexpr std::size_t lanes = 64;

void philox_rounds(std::uint64_t key, std::uint32_t (&word)[4][lanes]) {
  for (std::size_t i = 0; i < lanes; ++i) {
    std::uint32_t x0 = word[0][i], x1 = word[1][i], x2 = word[2][i], x3 = word[3][i];
    std::uint32_t key0 = std::uint32_t(key), key1 = std::uint32_t(key >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t product0 = std::uint64_t(PHILOX_M4x32_0) * x0;
      const std::uint64_t product1 = std::uint64_t(PHILOX_M4x32_1) * x2;
      x0 = std::uint32_t(product1 >> 32) ^ x1 ^ key0;
      x1 = std::uint32_t(product1);
      x2 = std::uint32_t(product0 >> 32) ^ x3 ^ key1;
      x3 = std::uint32_t(product0);
      key0 += PHILOX_W32_0;
      key1 += PHILOX_W32_1;
    }
    word[0][i] = x0;
    word[1][i] = x1;
    word[2][i] = x2;
    word[3][i] = x3;
  }
}

}  // namespace

void RandomFunction::fill_bits(std::uint64_t first, std::size_t count, std::uint32_t* out) const {
  for (std::size_t begin = 0; begin < count; begin += lanes) {
    std::uint32_t word[4][lanes];
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t element = first + begin + i;
      word[0][i] = std::uint32_t(element);
      word[1][i] = std::uint32_t(element >> 32);
      word[2][i] = std::uint32_t(stream);
      word[3][i] = std::uint32_t(stream >> 32);
    }
    philox_rounds(key_of(*this), word);
    for (std::size_t i = 0; i < std::min(lanes, count - begin); ++i) {
      for (std::size_t w = 0; w < 4; ++w) out[4 * (begin + i) + w] = word[w][i];
    }
  }
}

std::array<std::uint32_t, 4> RandomFunction::bits(std::uint64_t element) const {
  const std::uint64_t key = key_of(*this);
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

std::vector<std::size_t> Draws::shuffled(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t(0));
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

std::uint64_t stream_of(const char* name) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (; *name; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001B3u;
  return hash;
}

}  // namespace bochner

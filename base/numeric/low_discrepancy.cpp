#include <algorithm>
#include <bochner/base/numeric/low_discrepancy.hpp>
#include <bochner/base/shape.hpp>
#include <boost/random/sobol.hpp>

namespace bochner {
namespace {

constexpr std::size_t largest_dimension = 3667;

/// Returns the leading 32 bits of the first m Sobol points. Includes the origin, which a net needs.
std::vector<std::uint32_t> sobol_words(std::size_t m, std::size_t d) {
  boost::random::sobol engine(d);
  std::vector<std::uint32_t> words(m * d);
  for (std::size_t i = d; i < m * d; ++i) words[i] = std::uint32_t(engine() >> 32);
  return words;
}

/// Flips each bit by a random function of the higher bits. Six levels of that binary tree take
/// their 63 flips from one 64-bit number.
std::uint32_t scramble(std::uint32_t x, const RandomFunction& random, std::uint64_t tree) {
  constexpr unsigned levels = 6;
  std::uint32_t y = x;
  for (unsigned first = 0; first < 32; first += levels) {
    const std::uint64_t prefix = std::uint64_t(x) >> (32 - first);
    const auto word = random.bits((tree << 40) | (std::uint64_t(first) << 32) | prefix);
    const std::uint64_t flips = word[0] | (std::uint64_t(word[1]) << 32);
    for (unsigned level = 0; level < std::min(levels, 32 - first); ++level) {
      const std::uint64_t leading = 1u << level;
      const std::uint64_t node =
          leading | ((std::uint64_t(x) >> (32 - first - level)) & (leading - 1));
      y ^= std::uint32_t((flips >> node) & 1) << (31 - first - level);
    }
  }
  return y;
}

std::vector<std::size_t> first_primes(std::size_t count) {
  std::vector<std::size_t> primes;
  for (std::size_t n = 2; primes.size() < count; ++n) {
    if (std::ranges::none_of(primes, [n](std::size_t prime) { return n % prime == 0; }))
      primes.push_back(n);
  }
  return primes;
}

/// Writes one dimension of one randomisation to points[i * stride], i < m. Digits stop when a cell
/// is smaller than 2^-32; the position within the last cell is random.
void fill_dimension(std::size_t base, std::size_t m, Draws& draws, double* points,
                    std::size_t stride) {
  double cell = 1;
  for (std::size_t i = 0; i < m; ++i) points[i * stride] = 0;
  for (std::size_t power = 1; cell > 0x1p-32; power *= base) {
    const std::vector<std::size_t> order = draws.shuffled(base);
    cell /= double(base);
    for (std::size_t i = 0; i < m; ++i)
      points[i * stride] += cell * double(order[i / power % base]);
  }
  for (std::size_t i = 0; i < m; ++i) points[i * stride] += cell * draws.uniform();
}

}  // namespace

std::vector<double> sobol_points(SobolRandomisation randomisation, std::size_t H, std::size_t m,
                                 std::size_t d, const RandomFunction& random) {
  require(d <= largest_dimension && m >> 32 == 0, "sobol", "at most ", largest_dimension,
          " dimensions and 2^32 points: d ", d, ", m ", m);
  if (m * d == 0) return {};
  const std::vector<std::uint32_t> words = sobol_words(m, d);
  std::vector<double> points(H * m * d);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint64_t axis = i / (m * d) * d + i % d;  // head and dimension
    const std::uint32_t word = words[i % (m * d)];
    const std::uint32_t moved = randomisation == SobolRandomisation::shift
                                    ? word + random.bits(axis)[0]
                                    : scramble(word, random, axis);
    points[i] = (double(moved) + 0.5) * 0x1p-32;
  }
  return points;
}

std::vector<double> halton_points(std::size_t H, std::size_t m, std::size_t d,
                                  const RandomFunction& random) {
  const std::vector<std::size_t> bases = first_primes(d);
  std::vector<double> points(H * m * d);
  Draws draws(random);
  for (std::size_t h = 0; h < H; ++h) {
    for (std::size_t j = 0; j < d; ++j)
      fill_dimension(bases[j], m, draws, points.data() + h * m * d + j, d);
  }
  return points;
}

}  // namespace bochner

#include <bochner/autodiff/compute/low_discrepancy.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

std::vector<std::size_t> first_primes(std::size_t count) {
  std::vector<std::size_t> primes;
  for (std::size_t n = 2; primes.size() < count; ++n) {
    bool prime = true;
    for (std::size_t i = 0; prime && i < primes.size() && primes[i] * primes[i] <= n; ++i)
      prime = n % primes[i] != 0;
    if (prime) primes.push_back(n);
  }
  return primes;
}

std::vector<std::size_t> permutation(std::size_t size, const RandomFunction& random,
                                     std::uint64_t& used) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t(0));
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.integer(used++, i)]);
  return order;
}

/// One dimension of one randomisation: points[i * stride], i < m. Digits end where a cell is
/// smaller than 2^-32; the place within the last cell is random.
void fill_dimension(std::size_t base, std::size_t m, const RandomFunction& random,
                    std::uint64_t& used, double* points, std::size_t stride) {
  double cell = 1;
  for (std::size_t i = 0; i < m; ++i) points[i * stride] = 0;
  for (std::size_t power = 1; cell > 0x1p-32; power *= base) {
    const std::vector<std::size_t> order = permutation(base, random, used);
    cell /= double(base);
    for (std::size_t i = 0; i < m; ++i)
      points[i * stride] += cell * double(order[i / power % base]);
  }
  for (std::size_t i = 0; i < m; ++i) points[i * stride] += cell * random.uniform(used++);
}

}  // namespace

std::vector<double> halton_points(std::size_t H, std::size_t m, std::size_t d,
                                  const RandomFunction& random) {
  const std::vector<std::size_t> bases = first_primes(d);
  std::vector<double> points(H * m * d);
  std::uint64_t used = 0;
  for (std::size_t h = 0; h < H; ++h) {
    for (std::size_t j = 0; j < d; ++j)
      fill_dimension(bases[j], m, random, used, points.data() + h * m * d + j, d);
  }
  return points;
}

}  // namespace bochner

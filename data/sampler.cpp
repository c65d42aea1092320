#include <bochner/autodiff/compute/philox.hpp>
#include <bochner/autodiff/shape.hpp>
#include <bochner/data/sampler.hpp>
#include <cmath>

namespace bochner {
namespace {

/// From 16 on, all orders of six elements are equally likely as far as 50,000 draws can tell.
constexpr std::uint64_t rounds = 24;
/// No round asks for this element: its numbers are below rounds * 2^33.
constexpr std::uint64_t offset_element = ~std::uint64_t(0);

/// One pass through the network, a bijection of the rows x columns cells: each round shifts one
/// coordinate by a random function of the other.
std::uint64_t shuffle_cell(const RandomFunction& random, std::uint64_t cell, std::uint64_t rows,
                           std::uint64_t columns) {
  std::uint64_t row = cell / columns, column = cell % columns;
  for (std::uint64_t round = 0; round < rounds; round += 2) {
    row = (row + random.integer(column * rounds + round, rows)) % rows;
    column = (column + random.integer(row * rounds + round + 1, columns)) % columns;
  }
  return row * columns + column;
}

}  // namespace

std::uint64_t permuted_index(std::uint64_t seed, std::uint64_t epoch, std::uint64_t i,
                             std::uint64_t n) {
  require(i < n && n <= std::uint64_t(1) << 63, "permuted_index", "element ", i, " of ", n,
          " does not exist");
  const RandomFunction random{seed, Purpose::data_order, epoch};
  // At least two rows: a single one would only be rotated.
  const auto rows = std::uint64_t(std::sqrt(double(n))) + 1;
  const std::uint64_t columns = (n + rows - 1) / rows;
  do i = shuffle_cell(random, i, rows, columns);
  while (i >= n);
  return i;
}

std::uint64_t epoch_offset(std::uint64_t seed, std::uint64_t epoch, std::uint64_t bound) {
  return RandomFunction{seed, Purpose::data_order, epoch}.integer(offset_element, bound);
}

}  // namespace bochner

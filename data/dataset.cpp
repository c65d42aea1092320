#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/data/dataset.hpp>
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

/// 7 % of 100 are 7.000000000000001: a product this near to a whole number is rounded to it.
std::uint64_t rounded_up(double product) {
  const double whole = std::round(product);
  const bool is_whole =
      std::fabs(product - whole) <= 4 * std::numeric_limits<double>::epsilon() * product;
  return std::uint64_t(is_whole ? whole : std::ceil(product));
}

}  // namespace

std::uint64_t permuted_index(std::uint64_t seed, std::uint64_t epoch, std::uint64_t i,
                             std::uint64_t n) {
  require(i < n && n <= std::uint64_t(1) << 63, "permuted_index", "element ", i, " of ", n,
          " does not exist");
  const RandomFunction random{seed, Purpose::data_order, epoch};
  // At least two rows: a single one would only be rotated.
  const auto rows = std::uint64_t(std::sqrt(double(n))) + 1;
  const std::uint64_t columns = ceil_div(n, rows);
  do i = shuffle_cell(random, i, rows, columns);
  while (i >= n);
  return i;
}

std::uint64_t epoch_offset(std::uint64_t seed, std::uint64_t epoch, std::uint64_t bound) {
  return RandomFunction{seed, Purpose::data_order, epoch}.integer(offset_element, bound);
}

std::uint64_t held_out(std::uint64_t n, double fraction) {
  require(fraction >= 0 && fraction < 1, "split", "data.validation = ", fraction,
          ": must be at least 0 and less than 1");
  if (n < 2 || fraction == 0) return 0;
  return std::clamp<std::uint64_t>(rounded_up(double(n) * fraction), 1, n - 1);
}

std::vector<std::size_t> held_out_from(const std::vector<std::size_t>& lengths, double fraction) {
  if (lengths.size() == 1) return {lengths[0] - std::size_t(held_out(lengths[0], fraction))};
  std::vector<std::size_t> borders = lengths;
  const auto last = std::ptrdiff_t(held_out(lengths.size(), fraction));
  std::fill(borders.end() - last, borders.end(), 0);
  return borders;
}

std::uint64_t ExampleSet::fingerprint(const std::string& generator,
                                      const std::vector<std::uint64_t>& parameters) const {
  std::string text = generator;
  for (const std::uint64_t number : parameters) text += in_words(",", number);
  for (const std::uint64_t number : {seed, train, validation}) text += in_words(",", number);
  return stream_of(text.c_str());
}

Examples Dataset::training(std::uint64_t first, std::size_t count) const {
  Examples examples{Split::train, std::vector<Examples::Number>(count)};
  const std::uint64_t n = examples_.train;
  for (std::size_t row = 0; row < count; ++row) {
    const std::uint64_t epoch = (first + row) / n, place = (first + row) % n;
    examples.numbers[row] = {in_epoch(epoch, place), epoch};
  }
  return examples;
}

Examples Dataset::in_order(Split split, std::uint64_t first, std::size_t count) const {
  require(first + count <= examples(split), "dataset", "examples ", first, " to ", first + count,
          " of ", examples(split), " in the ", name_of(split), " split do not exist");
  Examples all{split, {}};
  for (std::size_t row = 0; row < count; ++row) all.numbers.push_back({first + row});
  return all;
}

std::uint64_t Dataset::batches(Split split, std::size_t size) const {
  require(size >= 1, "dataset", "a batch needs at least one example");
  return ceil_div(examples(split), size);
}

Examples Dataset::part(Split split, std::uint64_t index, std::size_t size) const {
  require(index < batches(split, size), "dataset", name_of(split), " batch ", index, " of ",
          batches(split, size), " does not exist");
  const std::uint64_t first = index * size;
  return in_order(split, first,
                  std::size_t(std::min<std::uint64_t>(size, examples(split) - first)));
}

std::string Dataset::describe_splits() const {
  const std::string test = examples_.test > 0 ? in_words(", ", examples_.test, " to test") : "";
  return in_words(examples_.train, " examples to train, ", examples_.validation, " to validate",
                  test);
}

}  // namespace bochner

#include <algorithm>
#include <bochner/train/tasks/text/byte_counts.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t byte_values = 256;

/// Returns the number of the context of `order` bytes before byte i.
std::size_t context_before(std::string_view text, std::size_t i, std::size_t order) {
  std::size_t context = 0;
  for (std::size_t k = i - order; k < i; ++k)
    context = context * byte_values + std::uint8_t(text[k]);
  return context;
}

}  // namespace

ByteCounts::Order::Order(std::size_t contexts)
    : counts(contexts), totals(contexts), distinct(contexts) {}

void ByteCounts::Order::add(std::size_t context, std::uint8_t byte) {
  if (!counts[context]) counts[context] = std::make_unique<Counts>();
  distinct[context] += (*counts[context])[byte]++ == 0;
  ++totals[context];
}

double ByteCounts::Order::probability(std::size_t context, std::uint8_t byte,
                                      double shorter) const {
  if (totals[context] == 0) return shorter;
  return ((*counts[context])[byte] + distinct[context] * shorter) /
         (double(totals[context]) + distinct[context]);
}

ByteCounts::ByteCounts()
    : orders_{Order(1), Order(byte_values), Order(byte_values * byte_values)} {}

void ByteCounts::add(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    for (std::size_t k = 0; k <= std::min<std::size_t>(i, 2); ++k)
      orders_[k].add(context_before(text, i, k), std::uint8_t(text[i]));
}

double ByteCounts::bits(std::string_view text, std::size_t first) const {
  double sum = 0;
  for (std::size_t i = first; i < text.size(); ++i) {
    double p = 1.0 / byte_values;
    for (std::size_t k = 0; k <= std::min<std::size_t>(i, 2); ++k)
      p = orders_[k].probability(context_before(text, i, k), std::uint8_t(text[i]), p);
    sum -= std::log2(p);
  }
  return sum;
}

double entropy_of_bytes(const std::array<std::uint64_t, byte_values>& counts) {
  const double all = double(std::accumulate(counts.begin(), counts.end(), std::uint64_t(0)));
  double bits = 0;
  for (const std::uint64_t count : counts)
    if (count > 0) bits -= double(count) / all * std::log2(double(count) / all);
  return bits;
}

}  // namespace bochner

#include <algorithm>
#include <bochner/autodiff/shape.hpp>
#include <bochner/data/split.hpp>

namespace bochner {

std::uint64_t held_out(std::uint64_t n, double fraction) {
  require(fraction >= 0 && fraction < 1, "split", "data.validation = ", fraction,
          ": must be at least 0 and less than 1");
  if (n < 2 || fraction == 0) return 0;
  const auto kept = std::uint64_t(double(n) * (1 - fraction));
  return std::clamp<std::uint64_t>(n - kept, 1, n - 1);
}

std::vector<std::size_t> held_out_from(const std::vector<std::size_t>& lengths, double fraction) {
  if (lengths.size() == 1) return {lengths[0] - std::size_t(held_out(lengths[0], fraction))};
  std::vector<std::size_t> borders = lengths;
  const auto last = std::ptrdiff_t(held_out(lengths.size(), fraction));
  std::fill(borders.end() - last, borders.end(), 0);
  return borders;
}

}  // namespace bochner

#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/series/moments.hpp>

namespace bochner {
namespace {

constexpr double rounding = 1e-12;

/// Returns whether a change is only rounding. Large numbers that differ by about one are counts, as
/// long as doubles represent them exactly.
bool is_rounding(double change, double size) {
  constexpr double exact = 9007199254740992;
  return change <= rounding * size && (change < 0.5 || size > exact);
}

}  // namespace

Moments resolved(const Moments& moments, const std::string& column) {
  constexpr double least_steps = 10;
  const auto [mean, deviation] = moments;
  if (is_rounding(deviation, std::abs(mean))) return {mean, 0};
  if (deviation >= least_steps * double(std::numeric_limits<real>::epsilon()) * std::abs(mean))
    return moments;
  throw DataError(
      column, ": its numbers differ by some ", three_digits(deviation), " around ",
      three_digits(mean),
      ", too little for a model to distinguish them; subtract that number from all of them");
}

std::string coarse_steps(const double* x, std::size_t n, const std::string& column) {
  constexpr double step_of_reals = double(std::numeric_limits<real>::epsilon()) / 2, few = 32;
  std::vector<double> steps;  // relative to the values
  for (std::size_t i = 1; i < n; ++i) {
    const double change = std::abs(x[i] - x[i - 1]);
    const double size = std::max(std::abs(x[i]), std::abs(x[i - 1]));
    if (change > 0 && !is_rounding(change, size)) steps.push_back(change / size);
  }
  if (steps.empty()) return "";
  const auto usual = steps.begin() + std::ptrdiff_t(steps.size() * 3 / 4);
  std::ranges::nth_element(steps, usual);
  if (*usual >= few * step_of_reals) return "";
  const std::string words = column + " changes by some " +
                            three_digits(*usual * std::abs(x[n - 1])) + " from row to row around " +
                            three_digits(x[n - 1]) + ", and a model sees ";
  const char* advice = "; subtract a number from all of its values, or learn the changes";
  if (*usual < step_of_reals) throw DataError(words, "none of it", advice);
  return words + "only a few steps of it" + advice;
}

}  // namespace bochner

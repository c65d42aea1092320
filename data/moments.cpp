#include <array>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/moments.hpp>
#include <cstdio>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::string in_three_digits(double number) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3g", number);
  return text.data();
}

}  // namespace

Moments resolved(const Moments& moments, const std::string& column) {
  constexpr double rounding = 1e-12, least_steps = 10;
  const auto [mean, deviation] = moments;
  if (deviation <= rounding * std::abs(mean)) return {mean, 0};
  if (deviation >= least_steps * double(std::numeric_limits<real>::epsilon()) * std::abs(mean))
    return moments;
  throw DataError(column, ": its numbers differ by some ", in_three_digits(deviation), " around ",
                  in_three_digits(mean),
                  ", too little for a model to tell them apart; take that number off all of them");
}

}  // namespace bochner::inline BOCHNER_PRECISION

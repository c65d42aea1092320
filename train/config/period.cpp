#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bochner/train/config/period.hpp>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace bochner {
namespace {

struct Suffix {
  std::string_view text;
  Period::Unit unit;
  double factor;
};

// For each unit the largest factor first, so that formatting takes the first one that divides.
constexpr std::array<Suffix, 9> suffixes = {{{"", Period::Unit::steps, 1},
                                             {"e", Period::Unit::epochs, 1},
                                             {"Gt", Period::Unit::tokens, 1e9},
                                             {"Mt", Period::Unit::tokens, 1e6},
                                             {"kt", Period::Unit::tokens, 1e3},
                                             {"t", Period::Unit::tokens, 1},
                                             {"h", Period::Unit::seconds, 3600},
                                             {"min", Period::Unit::seconds, 60},
                                             {"s", Period::Unit::seconds, 1}}};

constexpr double largest_count = 1e15;   // whole numbers are exact in a double up to here
constexpr double smallest_count = 1e-6;  // keeps the decimal form short

[[noreturn]] void refuse() {
  throw std::invalid_argument(fmt::format("must be a period: {}", period_grammar));
}

[[noreturn]] void refuse_size() {
  throw std::invalid_argument("must be at most 10^15 steps, epochs, tokens or seconds");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Period make_period(double number, const Suffix& suffix) {
  double count = number * suffix.factor;
  if (suffix.unit == Period::Unit::steps || suffix.unit == Period::Unit::tokens) {
    // 1.001 * 1000 is not 1001 in binary.
    if (std::abs(count - std::round(count)) > 1e-9 * count) refuse();
    count = std::round(count);
  }
  if (count == 0) return {};
  if (count > largest_count) refuse_size();
  if (count < smallest_count) refuse();
  return {count, suffix.unit};
}

}  // namespace

const char* text_of(PeriodUnits units) {
  constexpr const char* texts[] = {"", "steps, epochs or tokens such as 500, 2e or 10Mt",
                                   "wall time such as 45s, 30min or 2h"};
  return texts[std::size_t(units)];
}

bool has_units(const Period& period, PeriodUnits units) {
  return units == PeriodUnits::any || period.off() ||
         period.is_time() == (units == PeriodUnits::wall_time);
}

Period parse_period(std::string_view text) {
  if (text.empty()) return {};
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !is_digit(text.front()) || !is_digit(end[-1])) refuse();
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Suffix& suffix : suffixes)
    if (suffix.text == rest) return make_period(number, suffix);
  refuse();
}

std::string format_period(const Period& period) {
  for (const Suffix& suffix : suffixes) {
    if (suffix.unit != period.unit) continue;
    const double number = period.count / suffix.factor;
    if (suffix.factor > 1 && (number < 1 || number != std::floor(number))) continue;
    std::array<char, 64> buffer;
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                            std::chars_format::fixed);
    if (error != std::errc()) refuse();
    return std::string(buffer.data(), end).append(suffix.text);
  }
  refuse();
}

std::int64_t steps_of(const Period& period, std::int64_t tokens_per_step, double steps_per_epoch) {
  double steps = period.count;
  if (period.is_time())
    throw std::invalid_argument("[steps_of] " + format_period(period) +
                                " is a wall time: it has no number of steps");
  // 0.07 * 100 is more than 7 in binary, and no step more.
  if (period.unit == Period::Unit::epochs) steps *= steps_per_epoch * (1 - 1e-12);
  if (period.unit == Period::Unit::tokens) steps /= static_cast<double>(tokens_per_step);
  // Longer than any run, and no more than integers hold.
  return static_cast<std::int64_t>(std::min(std::ceil(steps), largest_count));
}

}  // namespace bochner

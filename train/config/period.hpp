#pragma once
/// Period: how long or how often, in one suffix grammar for steps, epochs, tokens and wall time.

#include <cstdint>
#include <string>
#include <string_view>

namespace bochner {

inline constexpr const char* period_grammar =
    "500 (steps), 2e (epochs), 10Mt (tokens; k, M or G), 45s, 30min or 2h";

/// A count of steps, epochs, tokens or seconds; zero means off (never, or no limit).
struct Period {
  enum class Unit { steps, epochs, tokens, seconds };

  double count = 0;
  Unit unit = Unit::steps;
  /// Not trivial: of a variant all of whose types can be moved without fail, libstdc++ 12 destroys
  /// what a copy, memory having failed, has not made. A ConfigValue is none, since it holds this.
  constexpr ~Period() {}

  bool off() const { return count == 0; }
  bool is_time() const { return unit == Unit::seconds; }
  bool operator==(const Period&) const = default;
};

/// The units that a period may have where not all make sense.
enum class PeriodUnits { any, countable, wall_time };
/// "steps, epochs or tokens such as 500, 2e or 10Mt"; "" of any.
const char* text_of(PeriodUnits units);
/// Whether the period has such a unit or is off.
bool has_units(const Period& period, PeriodUnits units);

/// Reads `500`, `2e`, `10Mt`, `30min`; "" is off. Throws std::invalid_argument with the grammar.
Period parse_period(std::string_view text);

/// The shortest text that parse_period reads back as the same period.
std::string format_period(const Period& period);

/// The period in steps, rounded up; 0 when off. An epoch need not end with a step. Throws
/// std::invalid_argument for a wall time.
std::int64_t steps_of(const Period& period, std::int64_t tokens_per_step, double steps_per_epoch);

}  // namespace bochner

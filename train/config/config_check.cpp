#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/config/config.hpp>
#include <bochner/train/config/nearest.hpp>

namespace bochner {
namespace {

void check_range(const Config& config, const ParameterRow& row) {
  const ConfigValue& value = config.value(row.name);
  const auto& [range, choices, units] = row.bounds;
  const auto demand = [&](bool holds, const char* subject) {
    if (!holds) fail(config, row.name, fmt::format("{}must be {}", subject, text_of(range)));
  };
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    demand(contains(range, static_cast<double>(*integer)), "");
  if (const auto* number = std::get_if<double>(&value)) demand(contains(range, *number), "");
  if (const auto* period = std::get_if<Period>(&value)) {
    demand(contains(range, period->count), "");
    if (!has_units(*period, units))
      fail(config, row.name, fmt::format("must be {}", text_of(units)));
  }
  if (const auto* numbers = std::get_if<std::vector<double>>(&value))
    for (const double number : *numbers) demand(contains(range, number), "every number ");
}

void check_choice(const Config& config, const ParameterRow& row) {
  if (!row.bounds.choices) return;
  const std::vector<std::string> choices = row.bounds.choices();
  const bool is_list = row.kind() == ConfigKind::text_list;
  for (const std::string& chosen :
       is_list ? config.text_list(row.name) : std::vector<std::string>{config.text(row.name)}) {
    if (std::find(choices.begin(), choices.end(), chosen) != choices.end()) continue;
    const std::string near = nearest(chosen, choices);
    fail(config, row.name,
         fmt::format("must {}be {}{}", is_list ? "each " : "", alternatives(choices),
                     near.empty() ? "" : ". Did you mean " + in_quotes(near) + "?"));
  }
}

void check_texts(const Config& config, const ParameterRow& row) {
  if (row.kind() != ConfigKind::text_list) return;
  const std::vector<std::string>& texts = config.text_list(row.name);
  if (std::find(texts.begin(), texts.end(), "") != texts.end())
    fail(config, row.name, "must not hold an empty text");
}

}  // namespace

std::string assignment(const Config& config, std::string_view name) {
  return fmt::format("{} = {}", name, format_value(config.value(name)));
}

void fail(const Config& config, std::string_view name, const std::string& demand,
          std::string_view other) {
  std::string where = config.location(name);
  if (where.empty() && !other.empty()) where = config.location(other);
  if (where.empty()) where = config.source();
  throw ConfigError(fmt::format("{}: {}: {}", where, assignment(config, name), demand));
}

void require_at_most(const Config& config, std::string_view name, std::string_view other) {
  const auto number = [&](std::string_view key) {
    const auto* whole = std::get_if<std::int64_t>(&config.value(key));
    return whole ? double(*whole) : config.number(key);
  };
  if (number(name) > number(other))
    fail(config, name, "must be at most " + assignment(config, other), other);
}

void validate(const Config& config) {
  for (const ParameterRow& row : config.table().rows()) {
    check_range(config, row);
    check_choice(config, row);
    check_texts(config, row);
  }
  for (const ConfigCheck check : config.table().checks()) check(config);
}

}  // namespace bochner

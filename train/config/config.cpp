#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/train/config/conditions.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/config/nearest.hpp>
#include <map>

namespace bochner {
namespace {

void check_range(const Config& config, const ParameterRow& row) {
  const ConfigValue& value = config.value(row);
  const auto& [range, choices, units, added] = row.bounds;
  const auto check = [&](double number, const char* subject = "") {
    if (!contains(range, number))
      fail(config, row.name, fmt::format("{}must be {}", subject, text_of(range)));
  };
  if (const auto* integer = std::get_if<std::int64_t>(&value)) check(double(*integer));
  if (const auto* number = std::get_if<double>(&value)) check(*number);
  if (const auto* period = std::get_if<Period>(&value)) {
    check(period->count);
    if (!has_units(*period, units))
      fail(config, row.name, fmt::format("must be {}", text_of(units)));
  }
  if (const auto* numbers = std::get_if<std::vector<double>>(&value))
    for (const double number : *numbers) check(number, "every number ");
}

void check_choice(const Config& config, const ParameterRow& row) {
  if (!row.bounds.choices) return;
  const std::vector<std::string> choices = row.bounds.choices();
  const bool is_list = row.kind() == ConfigKind::text_list;
  for (const std::string& chosen :
       is_list ? config.text_list(row.name) : std::vector<std::string>{config.text(row.name)}) {
    if (std::ranges::find(choices, chosen) != choices.end()) continue;
    const std::string near = nearest(chosen, choices);
    std::string hint;
    if (row.bounds.added) hint = ". One of your own is known to the program that registers it";
    if (!near.empty()) hint = ". Did you mean " + in_quotes(near) + "?";
    fail(config, row.name,
         fmt::format("must {}be {}{}", is_list ? "each " : "", alternatives(choices), hint));
  }
}

void check_texts(const Config& config, const ParameterRow& row) {
  if (row.kind() != ConfigKind::text_list) return;
  if (std::ranges::count(config.text_list(row.name), "") > 0)
    fail(config, row.name, "must not hold an empty text");
}

}  // namespace

Config::Config(ParameterTable table, std::string source)
    : table_(std::move(table)), source_(std::move(source)), locations_(table_.rows().size()) {
  for (const ParameterRow& row : table_.rows()) values_.push_back(row.initial);
}

std::size_t Config::index_of(std::string_view name) const {
  const ParameterRow* row = table_.find(name);
  if (!row) throw std::logic_error(fmt::format("[Config] no parameter is called {}", name));
  return static_cast<std::size_t>(row - table_.rows().data());
}

void Config::refuse_type(std::string_view name) {
  throw std::logic_error(fmt::format("[Config] {} has another type", name));
}

std::vector<std::string_view> Config::changed() const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (const ParameterRow& row = table_.rows()[i]; values_[i] != row.initial)
      names.push_back(row.name);
  return names;
}

const ConfigValue& Config::value(std::string_view name) const { return values_[index_of(name)]; }

const ConfigValue& Config::value(const ParameterRow& row) const {
  return values_[std::size_t(&row - table_.rows().data())];
}

const std::string& Config::location(std::string_view name) const {
  return locations_[index_of(name)];
}

void SpecReader::on_key(const Key& key) {
  const auto copy = [&](auto* member) {
    *member = std::get<std::remove_pointer_t<decltype(member)>>(config_.value(key.name));
  };
  std::visit(copy, key.member);
}

void Config::set(std::string_view name, ConfigValue value, std::string location) {
  const std::size_t index = index_of(name);
  if (value.index() != values_[index].index()) refuse_type(name);
  values_[index] = std::move(value);
  locations_[index] = std::move(location);
}

std::string assignment(const Config& config, std::string_view name) {
  return fmt::format("{} = {}", name, format_value(config.value(name)));
}

void fail(const Config& config, std::string_view name, const std::string& demand,
          std::string_view other) {
  std::string where = config.location(name);
  if (!other.empty() && (where.empty() || config.is_set(other))) where = config.location(other);
  if (where.empty()) where = config.source();
  throw ConfigError(fmt::format("{}: {}: {}", where, assignment(config, name), demand));
}

void fail_over(const Config& config, std::string_view name, const std::string& demand,
               std::string_view other) {
  fail(config, name, demand + ' ' + assignment(config, other), other);
}

void require_at_most(const Config& config, std::string_view name, std::string_view other) {
  const auto number = [&](std::string_view key) {
    const auto* whole = std::get_if<std::int64_t>(&config.value(key));
    return whole ? double(*whole) : config.number(key);
  };
  if (number(name) > number(other)) fail_over(config, name, "must be at most", other);
}

void validate(const Config& config) {
  for (const ParameterRow& row : config.table().rows()) {
    check_range(config, row);
    check_choice(config, row);
    check_texts(config, row);
  }
  for (const ConfigCheck check : config.table().checks()) check(config);
}

Config with_sets(Config config, const std::vector<std::string>& sets) {
  for (const std::string& set : sets) apply_set(config, set);
  validate(config);
  return config;
}

bool operator==(const Config& a, const Config& b) {
  return a.table().rows().size() == b.table().rows().size() && changes(a, b).empty();
}

std::string print_config(const Config& config, Printed which) {
  std::map<std::string_view, std::string> lines;
  for (const ParameterRow& row : config.table().rows()) {
    const bool is_shown = which == Printed::all || config.value(row) != row.initial;
    if (!is_shown && !applies(config, row)) continue;
    const std::string_view section = section_of(row.name);
    lines[section] +=
        fmt::format("{} = {}\n", row.name.substr(section.empty() ? 0 : section.size() + 1),
                    format_value(config.value(row)));
  }
  std::string text;
  for (const std::string& section : config.table().sections()) {
    if (!lines.contains(section)) continue;
    if (!text.empty()) text += '\n';
    if (!section.empty()) text += fmt::format("[{}]\n", section);
    text += lines[section];
  }
  return text;
}

std::vector<ConfigChange> changes(const Config& before, const Config& after) {
  std::vector<ConfigChange> found;
  for (const ParameterRow& row : before.table().rows()) {
    if (!after.table().find(row.name))
      throw std::logic_error(fmt::format("[changes] only one config has {}", row.name));
    const ConfigValue& old = before.value(row);
    if (old != after.value(row.name)) found.push_back({row.name, old, after.value(row.name)});
  }
  return found;
}

namespace {

/// Throws ConfigError for a change of a key that `is_fixed`; `by` names the weights and the remedy.
void require_unchanged(const Config& before, const Config& after, const std::string& source,
                       const std::string& by, bool (*is_fixed)(const ParameterRow&)) {
  for (const ConfigChange& change : changes(before, after))
    if (is_fixed(*before.table().find(change.name)))
      throw ConfigError(fmt::format("{}: {} is fixed at {} by {}", source, change.name,
                                    format_value(change.before), by));
}

std::string by_checkpoints(const std::string& run) {
  return fmt::format("its checkpoints; a new run can start from them: bochner fork {} ...",
                     shell_word(run));
}

bool determines_model(const ParameterRow& row) {
  return row.traits.model || (is_within(row.name, "model") && !row.traits.resume);
}

}  // namespace

void require_resumable(const Config& before, const Config& after, const std::string& run) {
  require_unchanged(before, after, run, by_checkpoints(run),
                    [](const ParameterRow& row) { return !row.traits.resume; });
}

void require_same_model(const Config& before, const Config& after, const std::string& run) {
  require_unchanged(before, after, run, by_checkpoints(run), determines_model);
}

void require_same_import(const Config& before, const Config& after, const std::string& file) {
  require_unchanged(before, after, file,
                    "its weights; import them unchanged, then start a new run from that one: "
                    "bochner fork",
                    determines_model);
}

}  // namespace bochner

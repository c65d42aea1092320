#include <fmt/format.h>

#include <bochner/train/charts/format.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

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

const ConfigValue& Config::value(std::string_view name) const { return values_[index_of(name)]; }

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

bool operator==(const Config& a, const Config& b) {
  return a.table().rows().size() == b.table().rows().size() && changes(a, b).empty();
}

std::string print_config(const Config& config) {
  std::string text;
  for (const std::string& section : config.table().sections()) {
    if (!text.empty()) text += '\n';
    if (!section.empty()) text += fmt::format("[{}]\n", section);
    for (const ParameterRow& row : config.table().rows()) {
      if (section_of(row.name) != section) continue;
      text += fmt::format("{} = {}\n", row.name.substr(section.empty() ? 0 : section.size() + 1),
                          format_value(config.value(row.name)));
    }
  }
  return text;
}

std::vector<ConfigChange> changes(const Config& before, const Config& after) {
  std::vector<ConfigChange> found;
  for (const ParameterRow& row : before.table().rows()) {
    if (!after.table().find(row.name))
      throw std::logic_error(fmt::format("[changes] only one config has {}", row.name));
    const ConfigValue& old = before.value(row.name);
    if (old != after.value(row.name)) found.push_back({row.name, old, after.value(row.name)});
  }
  return found;
}

void require_resumable(const Config& before, const Config& after, const std::string& run) {
  for (const ConfigChange& change : changes(before, after))
    if (!before.table().find(change.name)->traits.resume)
      throw ConfigError(fmt::format(
          "{}: {} is fixed at {} by its checkpoints; a new run can start from them: bochner fork "
          "{} ...",
          run, change.name, format_value(change.before), shell_word(run)));
}

}  // namespace bochner

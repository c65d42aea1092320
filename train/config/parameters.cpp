#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/base/registry.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/train/config/nearest.hpp>
#include <bochner/train/config/parameters.hpp>
#include <ranges>
#include <stdexcept>

namespace bochner {
namespace {

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// A value as TOML.
struct ValueFormat {
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(const std::string& text) const { return in_quotes(text); }
  std::string operator()(double number) const {
    const std::string text = fmt::format("{}", number);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const Period& period) const {
    const std::string text = format_period(period);
    return period.unit == Period::Unit::steps ? text : in_quotes(text);
  }
  std::string operator()(const ParameterGroup& group) const {
    std::string text = "{ match = " + in_quotes(group.match);
    if (group.lr_factor) text += ", lr_factor = " + (*this)(*group.lr_factor);
    if (group.weight_decay) text += ", weight_decay = " + (*this)(*group.weight_decay);
    return text + " }";
  }
  template <class Item>
  std::string operator()(const std::vector<Item>& items) const {
    return fmt::format("[{}]", joined(items | std::views::transform(*this)));
  }
};

/// Throws unless configs can be written with the name.
void require_writable(const Key& key) {
  const bool is_bare = std::ranges::all_of(key.name | std::views::split('.'), [](auto part) {
    return is_bare_name(std::string_view(part.begin(), part.end()));
  });
  require(is_bare, "keys", "no name for a key: ", in_quotes(key.name),
          "; use letters, digits, _ and -");
}

/// Throws if the default of a kind that a program adds is outside its own bounds.
void require_own_default(const Key& key) {
  const std::string what = fmt::format("default of \"{}\"", key.added);
  BoundsCheck check(what.c_str());
  std::visit(
      [&](const auto* member) {
        auto initial = *member;
        check(key.name, initial, key.bounds, key.words);
      },
      key.member);
}

}  // namespace

void RowCollector::on_key(const Key& key) {
  require_writable(key);
  if (!key.added.empty()) require_own_default(key);
  const auto initial =
      std::visit([](const auto* member) -> ConfigValue { return *member; }, key.member);
  const auto shared = std::ranges::find_if(rows, [&](const ParameterRow& row) {
    return row.name == key.name && row.doc == key.words && row.initial == initial;
  });
  if (shared != rows.end()) {
    shared->applies = either(shared->applies, key.applies);
  } else {
    if (!key.added.empty()) require_unused(key);
    rows.push_back({key.name, initial, key.words, key.bounds, key.traits, key.applies, key.added});
  }
}

/// Kinds may share a key, but not a name for two of them.
void RowCollector::require_unused(const Key& key) const {
  const auto same = std::ranges::find(rows, key.name, &ParameterRow::name);
  if (same == rows.end()) return;
  throw std::invalid_argument(fmt::format(
      "[keys] {} of \"{}\" is {} already, with another default or other words; rename it, or let "
      "both kinds have one Spec",
      key.name, key.added,
      same->added.empty() ? "a key of the library" : fmt::format("a key of \"{}\"", same->added)));
}

const ParameterRow* ParameterTable::Rows::find(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &in_order[found->second];
}

bool ParameterTable::Rows::has_section(std::string_view name) const {
  const std::string below = std::string(name) + '.';
  const auto first = by_name.lower_bound(below);
  return first != by_name.end() && first->first.starts_with(below);
}

void ParameterTable::Rows::add(ParameterRow row) {
  if (find(row.name) || has_section(row.name))
    throw std::invalid_argument("[ParameterTable] the name " + row.name + " is taken");
  const std::string_view section = section_of(row.name);
  if (std::ranges::find(sections, section) == sections.end()) sections.emplace_back(section);
  by_name[row.name] = in_order.size();
  in_order.push_back(std::move(row));
}

ParameterTable::ParameterTable(std::vector<ParameterRow> rows, std::vector<ConfigCheck> checks)
    : checks_(std::move(checks)) {
  auto all = std::make_shared<Rows>();
  for (ParameterRow& row : rows) all->add(std::move(row));
  rows_ = std::move(all);
}

void ParameterTable::add(ParameterRow row) {
  auto all = std::make_shared<Rows>(*rows_);
  all->add(std::move(row));
  rows_ = std::move(all);
}

ParameterTable ParameterTable::with(std::vector<ConfigCheck> checks) const {
  ParameterTable table = *this;
  table.checks_ = std::move(checks);
  return table;
}

std::string ParameterTable::suggestion(std::string_view unknown) const {
  std::vector<std::string> names;
  for (const ParameterRow& row : rows()) names.push_back(row.name);
  for (std::string_view section : sections()) {
    for (; !section.empty(); section = section_of(section)) names.emplace_back(section);
  }
  // The right last word in the wrong section says more than a near spelling of the whole.
  std::vector<std::string> same_last;
  for (const std::string& name : names)
    if (last_part(name) == last_part(unknown)) same_last.push_back(name);
  if (!same_last.empty() && last_part(unknown) != "kind") return fewest_edits(unknown, same_last);
  return nearest(unknown, names);
}

std::string_view section_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\u{:04X}", byte);
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + '"';
}

std::string format_value(const ConfigValue& value) { return std::visit(ValueFormat(), value); }

bool is_within(std::string_view name, std::string_view section) {
  if (section.empty()) return true;
  return name.starts_with(section) &&
         (name.size() == section.size() || name[section.size()] == '.');
}

std::string alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += in_quotes(names[i]);
  }
  return text;
}

}  // namespace bochner

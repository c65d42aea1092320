#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/config/conditions.hpp>
#include <bochner/train/config/parameter_docs.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner {
namespace {

/// Names of the kinds of values, by ConfigKind.
constexpr const char* kind_texts[] = {"whole number",  "number",        "text",
                                      "true or false", "list of texts", "list of numbers",
                                      "period",        "list of tables"};

constexpr std::string_view introduction =
    R"(# Parameters

Every key of a config file. `bochner config keys --markdown` writes this page; do not edit it.
`--set optim.lr=3e-4` on the command line changes a key of the file.

- A condition, such as `model.mixer.kind = "ssm"`, says when the keys below it have an effect. A key
  that is set without effect is an error.
- A **period** is {}; 0 is off.
- A key ending in `.kind` may be written as a name alone: `density = "gaussian"` is short for
  `density = {{ kind = "gaussian" }}`.
- `bochner resume RUN --set ...` may change the keys marked **r**.
)";

/// A text as a cell of a table.
std::string as_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string row_text(const ParameterRow& row) {
  return fmt::format("|`{}`{}|`{}`|{}|{}|\n", row.name, row.traits.resume ? " **r**" : "",
                     as_cell(format_value(row.initial)), as_cell(type_text(row)), as_cell(row.doc));
}

/// A section's rows by their conditions, in the order of the first of each.
void append_section(std::string& page, const ParameterTable& table, const std::string& section) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const ParameterRow& row : table.rows()) {
    if (section_of(row.name) != section) continue;
    const std::string condition = condition_text(table, row);
    const auto is_same = [&](const auto& group) { return group.first == condition; };
    if (std::ranges::none_of(groups, is_same)) groups.push_back({condition, ""});
    std::ranges::find_if(groups, is_same)->second += row_text(row);
  }
  std::ranges::stable_partition(groups, [](const auto& group) { return group.first.empty(); });
  page += fmt::format("\n## {}\n\n|key|default|value|meaning|\n|---|---|---|---|\n", section);
  for (const auto& [condition, rows] : groups)
    page += (condition.empty() ? "" : fmt::format("|`{}`||||\n", as_cell(condition))) + rows;
}

}  // namespace

std::string type_text(const ParameterRow& row) {
  const auto& [numbers, choices, units, added] = row.bounds;
  if (choices)
    return (row.kind() == ConfigKind::text_list ? "list of " : "") + alternatives(choices());
  std::string text = kind_texts[std::size_t(row.kind())];
  if (units != PeriodUnits::any) text.append(" of ").append(text_of(units));
  const std::string range = text_of(numbers);
  return text + (range.empty() ? "" : ", " + range);
}

std::string help_text(const ParameterTable& table, std::string_view section) {
  std::size_t name_width = 0, default_width = 0;
  for (const ParameterRow& row : table.rows()) {
    if (!is_within(row.name, section)) continue;
    name_width = std::max(name_width, row.name.size());
    default_width = std::max(default_width, format_value(row.initial).size());
  }
  std::string text;
  for (const ParameterRow& row : table.rows()) {
    if (!is_within(row.name, section)) continue;
    const std::string condition = condition_text(table, row);
    text += fmt::format("{:<{}}  {:<{}}  {} ({}{}{})\n", row.name, name_width,
                        format_value(row.initial), default_width, row.doc, type_text(row),
                        condition.empty() ? "" : "; if ", condition);
  }
  return text;
}

std::string help_json(const ParameterTable& table, std::string_view section) {
  Json keys = Json::array();
  for (const ParameterRow& row : table.rows()) {
    if (!is_within(row.name, section)) continue;
    keys.push({{"key", row.name},
               {"default", format_value(row.initial)},
               {"value", type_text(row)},
               {"meaning", row.doc},
               {"if", condition_text(table, row)},
               {"resume", row.traits.resume}});
  }
  return keys.lines();
}

std::string parameter_reference(const ParameterTable& table) {
  std::string page = fmt::format(introduction, period_grammar);
  for (const std::string& section : table.sections()) append_section(page, table, section);
  return page;
}

std::vector<std::string> complete_setting(const ParameterTable& table, std::string_view word,
                                          const Config* config) {
  std::vector<std::string> found;
  const auto offer = [&](const std::string& text) {
    if (text.starts_with(word)) found.push_back(text);
  };
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    for (const ParameterRow& row : table.rows())
      if (!config || applies(*config, row)) offer(row.name + "=");
    return found;
  }
  const ParameterRow* row = table.find(word.substr(0, equals));
  if (!row) return found;
  if (row->bounds.choices)
    for (const std::string& choice : row->bounds.choices()) offer(row->name + "=" + choice);
  if (row->kind() == ConfigKind::flag)
    for (const char* flag : {"true", "false"}) offer(row->name + "=" + flag);
  return found;
}

}  // namespace bochner

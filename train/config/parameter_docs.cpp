#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/config/parameter_docs.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner {
namespace {

/// Of each ConfigKind.
constexpr const char* kind_texts[] = {"whole number",  "number",        "text",
                                      "true or false", "list of texts", "list of numbers",
                                      "period",        "list of tables"};

std::string top_of(std::string_view name) { return std::string(name.substr(0, name.find('.'))); }

constexpr std::string_view introduction =
    R"(# Parameters

Every key of a config file, made from the table that reads them; do not edit this page.
On the command line `--set optim.lr=3e-4` changes one key after the file has been read.

- A **period** is {}; 0 is off.
- A key ending in `.kind` may be written as a name alone: `density = "gaussian"` says the same as
  `density = {{ kind = "gaussian" }}`, and the table has room for the other keys.
- `bochner resume RUN --set ...` may change the keys marked with **r**; the others are fixed by
  the checkpoints of the run.
)";

/// A text as a cell of a table.
std::string as_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
  return text;
}

void append_section(std::string& page, const ParameterTable& table, const std::string& top) {
  page += fmt::format("\n## {}\n\n| key | default | value | meaning |\n|---|---|---|---|\n", top);
  for (const ParameterRow& row : table.rows())
    if (top_of(row.name) == top)
      page += fmt::format("| `{}`{} | `{}` | {} | {} |\n", row.name,
                          row.traits.resume ? " **r**" : "", as_cell(format_value(row.initial)),
                          as_cell(type_text(row)), as_cell(row.doc));
}

}  // namespace

std::string type_text(const ParameterRow& row) {
  const auto& [numbers, choices, units, open] = row.bounds;
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
  for (const ParameterRow& row : table.rows())
    if (is_within(row.name, section))
      text += fmt::format("{:<{}}  {:<{}}  {} ({})\n", row.name, name_width,
                          format_value(row.initial), default_width, row.doc, type_text(row));
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
               {"resume", row.traits.resume}});
  }
  return keys.lines();
}

std::string parameter_reference(const ParameterTable& table) {
  std::string page = fmt::format(introduction, period_grammar);
  std::vector<std::string> tops;
  for (const ParameterRow& row : table.rows())
    if (std::find(tops.begin(), tops.end(), top_of(row.name)) == tops.end())
      tops.push_back(top_of(row.name));
  for (const std::string& top : tops) append_section(page, table, top);
  return page;
}

std::vector<std::string> complete_setting(const ParameterTable& table, std::string_view word) {
  std::vector<std::string> found;
  const auto offer = [&](const std::string& text) {
    if (text.starts_with(word)) found.push_back(text);
  };
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    for (const ParameterRow& row : table.rows()) offer(row.name + "=");
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

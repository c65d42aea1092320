#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/tasks/config_templates/column_roles.hpp>

namespace bochner {
namespace {

/// Returns whether a column is named like an id: user, user_id, Session ID.
bool names_an_id(const std::string& column) {
  const std::string name = lower_case(column);
  for (const char* whole : {"sequence", "session", "case", "user", "id", "customer", "patient"})
    if (name == whole) return true;
  return name.ends_with("_id") || name.ends_with(" id");
}

}  // namespace

bool names_a_source(const std::string& column) {
  const std::string name = lower_case(column);
  for (const char* whole :
       {"sensor", "device", "station", "meter", "probe", "node", "machine", "channel", "tag",
        "metric", "variable", "parameter", "signal", "series", "item", "name", "site", "location"})
    if (name == whole || name == std::string(whole) + "_name") return true;
  return names_an_id(column);
}

std::optional<std::size_t> time_column(const InferredTable& table) {
  for (const char* name : {"time", "timestamp", "t"})
    if (const auto column = table.called(name)) return column;
  return table.times.empty() ? std::nullopt : std::optional(table.times[0]);
}

std::optional<std::size_t> type_column(const InferredTable& table, std::size_t time) {
  for (const char* name : {"type", "event", "activity", "action", "event_type", "event_name"})
    if (const auto column = table.called(name)) return column;
  const bool has_numbers = !std::ranges::all_of(
      table.numbers, [&](std::size_t i) { return i == time || names_an_id(table.names[i]); });
  if (has_numbers || table.words.empty()) return std::nullopt;
  return *std::ranges::min_element(table.words, {}, [&](std::size_t i) { return table.texts[i]; });
}

std::optional<std::size_t> sequence_column(const InferredTable& table, std::size_t time,
                                           std::size_t type) {
  for (std::size_t i = 0; i < table.names.size(); ++i)
    if (i != time && i != type && names_an_id(table.names[i]) && table.texts[i] < table.sampled)
      return i;
  std::vector<std::size_t> others = table.words;
  std::erase(others, type);
  const bool are_few = others.size() == 1 && 4 * table.texts[others[0]] <= table.sampled;
  return are_few ? std::optional(others[0]) : std::nullopt;
}

}  // namespace bochner

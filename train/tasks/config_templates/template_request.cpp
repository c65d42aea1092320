#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/config/nearest.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/config_templates/table_inference.hpp>
#include <bochner/train/tasks/config_templates/template_request.hpp>

namespace bochner {
namespace {

/// A kind, another name of it or "", and the options that have an effect on its config.
struct RequestableKind {
  std::string_view name, alias, options;
};
constexpr RequestableKind kinds_to_ask_for[] = {
    {"forecaster", "", "--target --id --time --horizon"},
    {"classifier", "", "--target"},
    {"regressor", "", "--target"},
    {"gp", "", "--target"},
    {"filter_bank", "", "--target --id --time"},
    {"events", "", "--target --id --time"},
    {"text", "lm", ""},
    {"field", "", ""},
    {"vae", "", ""},
    {"contrastive", "", ""}};

/// Makes a column the only one of times; that of numbers is a clock to be read later.
void request_time(const std::string& file, InferredTable& table) {
  const std::size_t column = *table.called(lower_case(table.request.time));
  const auto is_in = [&](const auto& columns) { return std::ranges::count(columns, column) > 0; };
  if (!is_in(table.times) && !is_in(table.numbers) && !is_in(table.row_numbers))
    throw DataError(file, ": --time ", table.request.time,
                    ": holds no times that are read; say how with --set data.time_format=..");
  for (const std::size_t other : table.times)
    if (other != column) table.reasons[other] = "dates";
  const bool is_date = is_in(table.times);
  table.times.clear();
  if (is_date) table.times.push_back(column);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> TemplateRequest::options() const {
  std::vector<std::pair<std::string, std::string>> set = {
      {"--as", kind}, {"--target", target}, {"--id", id}, {"--time", time}};
  std::erase_if(set, [](const auto& option) { return option.second.empty(); });
  if (horizon > 0) set.emplace_back("--horizon", std::to_string(horizon));
  return set;
}

std::vector<std::string> requestable_kinds() {
  std::vector<std::string> names;
  for (const RequestableKind& kind : kinds_to_ask_for) {
    names.emplace_back(kind.name);
    if (!kind.alias.empty()) names.emplace_back(kind.alias);
  }
  return names;
}

TemplateRequest checked(TemplateRequest request) {
  if (request.kind.empty() && request.horizon > 0) request.kind = "forecaster";
  const auto* found = std::ranges::find_if(kinds_to_ask_for, [&](const RequestableKind& kind) {
    return kind.name == request.kind || (!kind.alias.empty() && kind.alias == request.kind);
  });
  demand(request.kind.empty() || found != std::end(kinds_to_ask_for), "--as {}: must be one of {}",
         request.kind, joined(requestable_kinds()));
  if (!request.kind.empty()) request.kind = found->name;
  return request;
}

void require_used(const TemplateRequest& request, std::string_view kind, const std::string& data) {
  const auto* found = std::ranges::find(kinds_to_ask_for, kind, &RequestableKind::name);
  for (const auto& [option, value] : request.options())
    demand(option == "--as" || found->options.find(option) != std::string_view::npos,
           "{} has no effect on a {} of {}; remove it, or choose another kind with --as", option,
           kind, data);
}

void apply_request(const TemplateRequest& request, const std::string& file, InferredTable& table) {
  table.request = request;
  const auto resolve = [&](const char* option, std::string& name) {
    if (!name.empty()) name = table.names[requested_column(table.names, file, option, name)];
  };
  resolve("--target", table.request.target);
  resolve("--id", table.request.id);
  resolve("--time", table.request.time);
  if (!request.time.empty()) request_time(file, table);
}

std::size_t requested_column(const std::vector<std::string>& names, const std::string& file,
                             const char* option, const std::string& name) {
  auto found = std::ranges::find(names, name);
  if (found == names.end())
    found = std::ranges::find(names, lower_case(name),
                              [](const auto& each) { return lower_case(each); });
  const std::string near = nearest(name, names);
  demand(found != names.end(), "{} {}: {} has no such column{}; there are {}", option, name, file,
         near.empty() ? "" : " (did you mean " + near + "?)", joined(names, ", ", excerpt));
  return std::size_t(found - names.begin());
}

std::size_t requested_number(const InferredTable& table, const std::string& file) {
  if (table.request.target.empty()) return table.numbers.back();
  const std::size_t target = *table.called(lower_case(table.request.target));
  if (std::ranges::count(table.numbers, target) == 0)
    throw DataError(file, ": --target ", table.request.target, ": holds no numbers; there are ",
                    joined(table.numbers, ", ", [&](std::size_t i) { return table.names[i]; }));
  return target;
}

}  // namespace bochner

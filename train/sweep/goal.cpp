#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/sweep/goal.hpp>
#include <bochner/train/sweep/grid.hpp>
#include <cmath>

namespace bochner {

Goal parse_goal(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  const std::string end = dot == text.npos ? "" : text.substr(dot);
  demand(dot > 0 && (end == ".min" || end == ".max"),
         "--goal {}: write METRIC.min or METRIC.max, such as valid.min", text);
  return {text.substr(0, dot), end == ".max"};
}

std::vector<double> measure(const std::vector<Goal>& goals, std::string_view metrics,
                            std::uint64_t last_step) {
  std::vector<double> measured(goals.size(), std::nan(""));
  for_each_line(metrics, [&](std::string_view text, std::size_t) {
    const Json line = Json::parse(text);
    if (line["step"].number().value_or(0) > double(last_step)) return;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      const auto number = line[goals[i].metric].number();
      const bool better = number && !(goals[i].score(*number) >= goals[i].score(measured[i]));
      if (better) measured[i] = *number;
    }
  });
  return measured;
}

std::string names_in(std::string_view metrics) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (name != "step" && std::ranges::count(names, name) == 0) names.push_back(name);
  };
  for (const auto& [name, number] : last_validation(metrics)) add(name);
  for_each_line(metrics, [&](std::string_view text, std::size_t) {
    for (const auto& [name, value] : Json::parse(text).members())
      if (value.number()) add(name);
  });
  return names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", "));
}

Scores scores_of(const std::vector<Goal>& goals, const std::vector<double>& measured) {
  Scores scores;
  for (std::size_t i = 0; i < goals.size(); ++i) scores.push_back(goals[i].score(measured[i]));
  return scores;
}

}  // namespace bochner

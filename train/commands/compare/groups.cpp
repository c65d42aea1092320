#include <algorithm>
#include <bochner/data/files/digest.hpp>
#include <bochner/train/commands/compare/groups.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <functional>
#include <limits>
#include <map>
#include <set>

namespace bochner {
namespace {

constexpr const char* seed_key = "train.seed";
constexpr const char* parent_key = "forked from";

/// Digests the parent and all settings of a run except its seed.
std::uint64_t identity_of(const RunView& run) {
  std::string text = run.parent() + "\n";
  for (const auto& [key, value] : run.settings())
    if (key != seed_key) text += key + "=" + value + "\n";
  return digest_of_elements(text);
}

/// Returns "features=elu" for "features=elu,seed=2", a name of a sweep's run.
std::string without_seed(const std::string& name) {
  std::string kept;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find(',', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (!part.starts_with("seed=") && !part.starts_with("train.seed="))
      kept += (kept.empty() ? "" : ",") + part;
    begin = end + 1;
  }
  return kept;
}

std::string first_to_last(const std::vector<std::string>& runs) {
  return runs.size() == 1 ? runs[0] : runs.front() + " … " + runs.back();
}

/// Returns the common part of the names without the seed.
std::string name_of_group(const std::vector<std::string>& runs) {
  if (runs.size() == 1) return runs[0];
  const std::string common = without_seed(runs[0]);
  const auto is_common = [&](const std::string& name) { return without_seed(name) == common; };
  return !common.empty() && std::ranges::all_of(runs, is_common) ? common : first_to_last(runs);
}

/// Adds the key unless all groups have the same value.
void add_difference(std::vector<Difference>& all, const std::string& key,
                    const std::vector<RunGroup>& groups,
                    const std::function<std::string(const RunView&)>& value_in) {
  Difference one{key, {}};
  for (const RunGroup& group : groups) one.values.push_back(value_in(*group.runs[0]));
  const std::set<std::string> different(one.values.begin(), one.values.end());
  if (different.size() > 1) all.push_back(std::move(one));
}

/// Returns steps that any run has logged, between the first and last that all have reached.
std::set<double> common_steps(const std::vector<const RunView*>& runs, const std::string& key) {
  double first = -std::numeric_limits<double>::infinity(), last = -first;
  for (const RunView* run : runs) {
    first = std::max(first, run->curve(key).x.front());
    last = std::min(last, run->curve(key).x.back());
  }
  std::set<double> steps;
  for (const RunView* run : runs)
    for (const double step : run->curve(key).x)
      if (step >= first && step <= last) steps.insert(step);
  return steps;
}

/// Interpolates linearly; x is between the ends of the curve.
double value_at(const Curve& curve, double x) {
  const auto above = std::size_t(std::ranges::lower_bound(curve.x, x) - curve.x.begin());
  if (curve.x[above] == x) return curve.y[above];
  const double part = (x - curve.x[above - 1]) / (curve.x[above] - curve.x[above - 1]);
  return curve.y[above - 1] + part * (curve.y[above] - curve.y[above - 1]);
}

}  // namespace

std::vector<std::string> short_names(const std::vector<Path>& runs) {
  std::vector<Path> whole;
  for (const Path& run : runs) {
    const Path path = std::filesystem::absolute(run).lexically_normal();
    whole.push_back(path.has_filename() ? path : path.parent_path());
  }
  Path common = whole.empty() ? Path() : whole[0].parent_path();
  for (const Path& path : whole)
    while (path.parent_path().lexically_relative(common).string().starts_with(".."))
      common = common.parent_path();
  std::vector<std::string> names;
  for (const Path& path : whole) names.push_back(path.lexically_relative(common).string());
  return names;
}

std::vector<RunGroup> groups_of(const std::deque<RunView>& runs) {
  std::vector<Path> paths;
  for (const RunView& run : runs) paths.push_back(run.path());
  const std::vector<std::string> names = short_names(paths);
  std::vector<RunGroup> groups;
  std::vector<std::vector<std::string>> names_of;
  std::map<std::pair<std::uint64_t, std::string>, std::size_t> found;
  std::set<std::pair<std::uint64_t, std::string>> seen;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::uint64_t identity = identity_of(runs[i]);
    const bool is_other = seen.emplace(identity, runs[i].setting(seed_key)).second;
    const auto [entry, is_new] =
        found.emplace(std::pair(identity, is_other ? "" : names[i]), groups.size());
    if (is_new) groups.emplace_back(), names_of.emplace_back();
    groups[entry->second].runs.push_back(&runs[i]);
    names_of[entry->second].push_back(names[i]);
  }
  std::map<std::string, std::size_t> taken;
  for (std::size_t i = 0; i < groups.size(); ++i)
    ++taken[groups[i].name = name_of_group(names_of[i])];
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (taken[groups[i].name] > 1) groups[i].name = first_to_last(names_of[i]);
  return groups;
}

std::vector<Difference> differences(const std::vector<RunGroup>& groups) {
  std::vector<Difference> all;
  if (groups.empty()) return all;
  add_difference(all, parent_key, groups, &RunView::parent);
  const Settings& keys = groups[0].runs[0]->settings();  // equal in all groups, in this order
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i].first != seed_key)
      add_difference(all, keys[i].first, groups, [i](const RunView& run) {
        return i < run.settings().size() ? run.settings()[i].second : "";
      });
  return all;
}

std::string objection(const std::vector<Difference>& differences) {
  std::string keys;
  for (const Difference& one : differences)
    if (one.key == "model.kind" || one.key.starts_with("data."))
      keys += (keys.empty() ? "" : ", ") + one.key;
  return keys.empty() ? "" : "runs differ in " + keys + ": their losses may not be comparable";
}

Series mean_curve(const RunGroup& group, const std::string& key, bool by_time) {
  std::vector<const RunView*> runs;
  for (const RunView* run : group.runs)
    if (!run->curve(key).x.empty() && (!by_time || run->seconds_at(0))) runs.push_back(run);
  Series series{group.name};
  for (const double step : common_steps(runs, key)) {
    std::vector<double> values, seconds;
    for (const RunView* run : runs) {
      values.push_back(value_at(run->curve(key), step));
      seconds.push_back(by_time ? *run->seconds_at(step) : step);
    }
    const Interval interval = confidence_interval(values);
    series.x.push_back(mean_of(seconds));
    series.y.push_back(interval.mean);
    if (runs.size() < 2) continue;
    series.low.push_back(interval.mean - interval.half_width);
    series.high.push_back(interval.mean + interval.half_width);
  }
  return series;
}

}  // namespace bochner

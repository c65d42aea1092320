#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/files/digest.hpp>
#include <bochner/train/commands/compare/comparison.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
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

using FigureOfRun = std::function<std::optional<double>(const RunView&)>;

std::optional<double> last_number(const Curve& curve) {
  return curve.y.empty() ? std::nullopt : std::optional(curve.y.back());
}

std::optional<double> lowest(const RunView& run) {
  const std::vector<double>& losses = run.curve("valid").y;
  return losses.empty() ? std::nullopt : std::optional(*std::ranges::min_element(losses));
}

std::optional<double> step_of_lowest(const RunView& run) {
  const Curve& valid = run.curve("valid");
  if (valid.y.empty()) return std::nullopt;
  return valid.x[std::size_t(std::ranges::min_element(valid.y) - valid.y.begin())];
}

/// Returns the growth of a metric per second of training, from its first to its last line.
std::optional<double> growth(const RunView& run, const std::string& key) {
  const Curve& curve = run.curve(key);
  if (curve.x.size() < 2) return std::nullopt;
  const auto from = run.seconds_at(curve.x.front()), to = run.seconds_at(curve.x.back());
  if (!from || !to || *to <= *from) return std::nullopt;
  return (curve.y.back() - curve.y.front()) / (*to - *from);
}

/// Returns the seconds until the first validation loss of at most `goal`.
std::optional<double> seconds_to(const RunView& run, double goal) {
  const Curve& valid = run.curve("valid");
  const auto found = std::ranges::find_if(valid.y, [&](double loss) { return loss <= goal; });
  if (found == valid.y.end()) return std::nullopt;
  return run.seconds_at(valid.x[std::size_t(found - valid.y.begin())]);
}

std::optional<double> largest(const Curve& curve) {
  return curve.y.empty() ? std::nullopt : std::optional(*std::ranges::max_element(curve.y));
}

/// Returns the mean over layers of the last value of a kernel metric.
std::optional<double> last_of_layers(const RunView& run, const std::string& key) {
  const auto found = run.metrics().kernels.find(key);
  if (found == run.metrics().kernels.end()) return std::nullopt;
  std::vector<double> numbers;
  for (const auto& [layer, curve] : found->second) numbers.push_back(curve.y.back());
  return mean_of(numbers);
}

std::set<std::string> kernel_keys(const std::vector<RunGroup>& groups) {
  std::set<std::string> keys;
  for (const RunGroup& group : groups)
    for (const RunView* run : group.runs)
      for (const auto& [key, layers] : run->metrics().kernels) keys.insert(key);
  return keys;
}

class Figures {
 public:
  explicit Figures(const std::vector<RunGroup>& groups) : groups_(groups) {}

  void add(RunFigure figure, const FigureOfRun& of) {
    bool any = false;
    for (const RunGroup& group : groups_) {
      figure.values.emplace_back();
      for (const RunView* run : group.runs)
        if (const auto number = of(*run)) figure.values.back().push_back(*number), any = true;
    }
    if (any) all.push_back(std::move(figure));
  }

  std::vector<RunFigure> all;

 private:
  const std::vector<RunGroup>& groups_;
};

/// Whether every kind of run logs this key in training.
bool is_of_training(const std::string& key) {
  return key == "tokens" || key == "epoch" || key == "loss" || key == "lr" || key == "grad_norm";
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

void sort_by_best(std::vector<RunGroup>& groups) {
  const auto mean_lowest = [](const RunGroup& group) {
    std::vector<double> numbers;
    for (const RunView* run : group.runs)
      if (const auto number = lowest(*run)) numbers.push_back(*number);
    return numbers.empty() ? std::numeric_limits<double>::infinity() : mean_of(numbers);
  };
  std::ranges::stable_sort(groups, {}, mean_lowest);
}

std::vector<std::string> measures_of(const std::vector<RunGroup>& groups) {
  std::vector<std::string> keys;
  for (const RunGroup& group : groups)
    for (const RunView* run : group.runs)
      for (const auto& [key, curve] : run->metrics().curves)
        if (!is_of_training(key) && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  std::ranges::stable_partition(keys, [](const std::string& key) { return key == "valid"; });
  return keys;
}

std::optional<double> common_goal(const std::vector<RunGroup>& groups) {
  std::optional<double> goal;
  for (const RunGroup& group : groups)
    for (const RunView* run : group.runs)
      if (const auto best = lowest(*run)) goal = std::max(*best, goal.value_or(*best));
  if (!goal || *goal == 0 || !std::isfinite(*goal)) return goal;
  const double unit = std::pow(10, std::floor(std::log10(std::fabs(*goal))) - 3);
  return std::max(*goal, unit * std::ceil(*goal / unit));
}

std::vector<RunFigure> figures_of(const std::vector<RunGroup>& groups, std::optional<double> goal) {
  Figures figures(groups);
  figures.add({"step", "step", Quantity::steps}, &RunView::step);
  const std::vector<std::string> measures = measures_of(groups);
  std::vector<std::string> keys = measures;
  keys.insert(keys.begin(), "loss");
  for (const std::string& key : keys)
    figures.add({key, key}, [&](const RunView& run) { return last_number(run.curve(key)); });
  figures.add({"best", "best valid"}, lowest);
  figures.add({"best_step", "at step", Quantity::steps}, step_of_lowest);
  figures.add({"seconds", "seconds", Quantity::seconds},
              [](const RunView& run) { return last_number(run.clock("seconds")); });
  figures.add({"tokens_per_second", "tokens/s", Quantity::rate},
              [](const RunView& run) { return growth(run, "tokens"); });
  const bool in_bits = std::ranges::count(measures, "bits_per_token") > 0;
  const double unit = in_bits ? std::numbers::ln2 : 1;
  figures.add({in_bits ? "bits_per_second" : "loss_per_second", in_bits ? "bits/s" : "loss/s"},
              [&](const RunView& run) -> std::optional<double> {
                const auto rise = growth(run, "loss");
                return rise ? std::optional(-*rise / unit) : std::nullopt;
              });
  if (goal)
    figures.add({"seconds_to", fmt::format("s to {:.4g}", *goal), Quantity::seconds},
                [&](const RunView& run) { return seconds_to(run, *goal); });
  figures.add({"memory", "memory", Quantity::bytes},
              [](const RunView& run) { return largest(run.clock("memory")); });
  for (const std::string& key : kernel_keys(groups))
    figures.add({"kernel_" + key, ""},
                [&](const RunView& run) { return last_of_layers(run, key); });
  return std::move(figures.all);
}

}  // namespace bochner

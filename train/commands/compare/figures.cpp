#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/commands/compare/groups.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <set>

namespace bochner {
namespace {

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

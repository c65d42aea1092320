#include <fmt/format.h>

#include <bochner/train/charts/format.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/metrics.hpp>
#include <bochner/train/run/trainer_state.hpp>
#include <numbers>

namespace bochner {
namespace {

using Charts = std::vector<std::string>;

void add_losses(Charts& charts, const MetricsLog& log, const std::string& unit) {
  Chart chart{.title = "Loss", .x = {"step"}, .y = {unit}};
  if (const auto found = log.curves.find("loss"); found != log.curves.end())
    chart.add("training", found->second);
  if (const auto found = log.curves.find("valid"); found != log.curves.end())
    chart.add("validation", found->second, Mark::line_and_points, 1);
  if (!chart.series.empty()) charts.push_back(draw(chart));
}

/// A chart of one key, if it was logged.
void add_curve(Charts& charts, const MetricsLog& log, const std::string& key,
               const std::string& title, const Axis& axis) {
  const auto found = log.curves.find(key);
  if (found == log.curves.end()) return;
  Chart chart{.title = title, .x = {"step"}, .y = axis};
  chart.add("", found->second);
  charts.push_back(draw(chart));
}

/// The same, of each layer.
void add_kernels(Charts& charts, const MetricsLog& log, const std::string& key,
                 const std::string& title, const Axis& axis) {
  const auto found = log.kernels.find(key);
  if (found == log.kernels.end()) return;
  Chart chart{.title = title, .x = {"step"}, .y = axis, .width = 380, .height = 270};
  for (const auto& [layer, curve] : found->second) chart.add(layer, curve, Mark::line_and_points);
  charts.push_back(draw(chart));
}

}  // namespace

void add_learning(Page& page, const MetricsLog& log, const TrainerState& state,
                  std::size_t parameters, const std::string& loss_unit) {
  std::vector<Figure> figures{{fmt::format("{}", state.step), "steps"},
                              {format_count(double(state.tokens)), "tokens"},
                              {format_count(double(parameters)), "parameters"}};
  if (!state.best.empty()) {
    const BestCheckpoint& best = state.best.front();
    figures.push_back({fmt::format("{:.4f}", best.metric),
                       fmt::format("best validation, {} (step {})", loss_unit, best.step)});
    if (log.curves.contains("bits_per_token"))
      figures.push_back({fmt::format("{:.4f}", best.metric / std::numbers::ln2), "bits per token"});
  }
  if (state.wall_seconds > 0)
    figures.push_back({format_count(double(state.tokens) / state.wall_seconds), "tokens a second"});
  page.figures(figures);
  Charts charts;
  add_losses(charts, log, loss_unit);
  add_curve(charts, log, "lr", "Learning rate", {"", Scale::linear, 0.0});
  add_curve(charts, log, "grad_norm", "Norm of the gradient",
            {"before clipping", Scale::logarithmic});
  page.section("Learning");
  page.charts(charts);
  charts.clear();
  add_kernels(charts, log, "error", "Expected error of an attention weight",
              {"relative", Scale::linear, 0.0});
  add_kernels(charts, log, "effective_features", "Effective number of features",
              {"", Scale::linear, 0.0});
  add_kernels(charts, log, "drift", "Drift of the spectrum",
              {"relative to the start", Scale::linear, 0.0});
  if (charts.empty()) return;
  page.section("Learned kernels while training",
               "Measured at each validation on its first example, layer by layer.");
  page.charts(charts, 340);
}

}  // namespace bochner

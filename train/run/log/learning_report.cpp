#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/checkpoint/trainer_state.hpp>
#include <bochner/train/run/log/metrics.hpp>
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

/// Adds a chart of one key, if it was logged.
void add_curve(Charts& charts, const MetricsLog& log, const std::string& key,
               const std::string& title, const Axis& axis) {
  const auto found = log.curves.find(key);
  if (found == log.curves.end()) return;
  Chart chart{.title = title, .x = {"step"}, .y = axis};
  chart.add("", found->second);
  charts.push_back(draw(chart));
}

/// Key of the metrics and its title.
struct Name {
  std::string key, words;
};

std::string last_of(const MetricsLog& log, const std::string& key, const std::string& layer,
                    std::size_t head) {
  const auto of_key = log.heads.find(key);
  if (of_key == log.heads.end()) return "";
  const auto of_layer = of_key->second.find(layer);
  if (of_layer == of_key->second.end() || head >= of_layer->second.size()) return "";
  return fmt::format("{:.3g}", of_layer->second[head]);
}

/// Adds a chart of kernel metrics, a curve per layer and key, if all keys were logged.
void add_kernels(Charts& charts, const MetricsLog& log, const std::vector<Name>& keys,
                 const std::string& title, const Axis& axis) {
  Chart chart{.title = title, .x = {"step"}, .y = axis};
  for (const auto& [key, words] : keys) {
    const auto found = log.kernels.find(key);
    if (found == log.kernels.end()) return;
    for (const auto& [layer, curve] : found->second)
      chart.add(words.empty() ? layer : layer + ", " + words, curve, Mark::line_and_points);
  }
  charts.push_back(draw(chart));
}

/// Adds a table of the last numbers of each head.
void add_heads(Page& page, const MetricsLog& log) {
  const Name columns[] = {{"entropy", "entropy, exact"},
                          {"estimated_entropy", "entropy, estimated"},
                          {"effective_features", "effective features"},
                          {"rank", "rank"},
                          {"deviation", "deviation"},
                          {"bias", "bias"}};
  const auto first = log.heads.find(columns[0].key);
  if (first == log.heads.end()) return;
  Table table{{"layer", "head"}, {}};
  for (const Name& column : columns) table.headers.push_back(column.words);
  for (const auto& [layer, values] : first->second)
    for (std::size_t h = 0; h < values.size(); ++h) {
      std::vector<std::string> row = {layer, fmt::format("{}", h + 1)};
      for (const Name& column : columns) row.push_back(last_of(log, column.key, layer, h));
      table.rows.push_back(std::move(row));
    }
  page.section(
      "Heads at the last validation",
      "Entropy of a query's weights in nats: of exact attention by the same queries and "
      "keys, and of the estimate. Deviation and bias are parts of the estimate's error relative "
      "to the exact weights: what the spread over features explains, and what more features "
      "would not reduce.");
  page.table(table);
}

std::vector<Figure> figures_of(const MetricsLog& log, const TrainerState& state,
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
  return figures;
}

Charts learning_charts(const MetricsLog& log, const std::string& loss_unit) {
  Charts charts;
  add_losses(charts, log, loss_unit);
  add_curve(charts, log, "lr", "Learning rate", {"", Scale::linear, 0.0});
  add_curve(charts, log, "grad_norm", "Norm of the gradient",
            {"before clipping", Scale::logarithmic});
  add_curve(charts, log, "noise_scale", "Noise of the gradient",
            {"examples of a batch with as much signal", Scale::logarithmic});
  add_curve(charts, log, "curvature", "Largest eigenvalue of the Hessian", {""});
  for (const auto& [key, curve] : log.curves)
    if (key.starts_with("report.")) add_curve(charts, log, key, key.substr(7), {""});
  return charts;
}

Charts kernel_charts(const MetricsLog& log) {
  Charts charts;
  std::vector<Name> errors = {{"error", ""}};
  if (log.kernels.contains("redrawn_error"))
    errors = {{"error", "as if independent"}, {"redrawn_error", "redrawn"}};
  add_kernels(charts, log, errors, "Expected error of an attention weight",
              {"relative", Scale::linear, 0.0});
  add_kernels(charts, log, {{"effective_features", ""}}, "Effective number of features",
              {"", Scale::linear, 0.0});
  add_kernels(charts, log, {{"drift", ""}}, "Drift of the spectrum",
              {"relative to the start", Scale::linear, 0.0});
  add_kernels(charts, log, {{"head_distance", ""}}, "Distance between the spectra of heads",
              {"relative to their size", Scale::linear, 0.0});
  add_kernels(charts, log, {{"entropy", "exact"}, {"estimated_entropy", "estimated"}},
              "Entropy of attention", {"nats", Scale::linear, 0.0});
  add_kernels(charts, log, {{"rank", ""}}, "Rank of the keys' features", {"", Scale::linear, 0.0});
  add_kernels(charts, log, {{"deviation", "deviation"}, {"bias", "bias"}},
              "Error of the weights and its parts", {"relative", Scale::linear, 0.0});
  add_kernels(charts, log, {{"gradient_to_noise", ""}}, "Gradient of the spectrum to its noise",
              {"of one batch", Scale::linear, 0.0});
  return charts;
}

}  // namespace

void add_learning(Page& page, const MetricsLog& log, const TrainerState& state,
                  std::size_t parameters, const std::string& loss_unit) {
  const Charts learning = learning_charts(log, loss_unit);
  if (state.step == 0 && learning.empty()) return;  // fitted without steps
  page.figures(figures_of(log, state, parameters, loss_unit));
  page.section("Learning");
  page.charts(learning);
  const Charts charts = kernel_charts(log);
  if (charts.empty()) return;
  page.section(
      "Learned kernels while training",
      "Measured at each validation on its first example, layer by layer; a gradient and its "
      "noise on the training batches to come.");
  page.charts(charts);
  add_heads(page, log);
}

}  // namespace bochner

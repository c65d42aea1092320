#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/log/metrics.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/storage/storage.hpp>
#include <bochner/train/studies/attention_parts.hpp>
#include <bochner/train/studies/backtest_figures.hpp>
#include <bochner/train/studies/impulse_responses.hpp>
#include <bochner/train/studies/learned_curves.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <bochner/train/studies/memory_page.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {
namespace {

/// A model and what its attention sees of the first validation example.
struct Specimen {
  std::unique_ptr<Task> task;
  std::vector<AttentionLayer> layers;
  std::vector<AttentionSample> samples;
  explicit Specimen(std::unique_ptr<Task> made) : task(std::move(made)) {}
  bool has_validation() const { return task->data().examples(Split::validation) > 0; }
  void examine() {
    layers = attention_layers(task->model());
    if (has_validation()) samples = attention_samples(*task, layers);
  }
  bool attends() const {
    return std::ranges::any_of(samples, [](const auto& one) { return one.q.dimension() == 4; });
  }
  bool has_memory() const { return has_validation() && has_blocks(task->model()); }
};

/// A glance; `probe` looks closer.
constexpr MemoryOptions glance{.probe = {.draws = 8}, .windows = 4, .length = 1024};

std::string contents_of(const MetricsLog& log, const Specimen& now,
                        const std::vector<LinearPart>& linear) {
  std::vector<std::string> curves;
  for (const auto& [key, name] :
       {std::pair{"loss", "loss"}, {"lr", "learning rate"}, {"grad_norm", "gradient norm"}})
    if (log.curves.contains(key)) curves.push_back(name);
  std::string text = curves.empty() ? "no lines of training losses" : joined(curves);
  if (std::ranges::any_of(now.layers, &AttentionLayer::density))
    text += ", spectrum and k(delta) before and after";
  if (!linear.empty()) text += ", filters and state spaces";
  if (now.attends()) text += ", attention";
  return now.has_memory() ? text + ", memory" : text;
}

struct PlotOptions : ModelOptions {
  bool json = false;
};

/// Writes RUN/report.html, one page with everything in it; or prints what has been learned.
void plot_command(const PlotOptions& options) {
  auto [checkpoint, config] = load_run(options.run, options.sets);
  const Path directory = parse_run_reference(options.run).directory;
  PosixStorage storage;
  const Path metrics = directory / metrics_name;
  const MetricsLog log =
      read_metrics(storage.exists(metrics) ? read_file(storage, metrics) : "", metrics.string());
  Specimen now(make_task_of(checkpoint, config)), start(make_task(config));
  load_weights(checkpoint, config, now.task->model(), options);
  start.examine();
  now.examine();
  if (options.json) {
    for (const LearnedCurve& curve :
         learned_curves(start.task->model(), now.task->model(), start.samples, now.samples))
      fmt::print("{}\n", json_of(curve).line());
    return;
  }
  Page page(fmt::format("{} at step {}", directory.string(), checkpoint.state().step),
            now.task->describe_model() + " — " + now.task->data().words());
  add_learning(page, log, checkpoint.state(), count_parameters(now.task->model()),
               now.task->loss_unit());
  add_spectra(page, start.layers, now.layers);
  add_time_kernels(page, start.task->model(), now.task->model());
  const std::vector<LinearPart> linear = linear_parts(now.task->model());
  add_linear_parts(page, linear_parts(start.task->model()), linear);
  if (now.attends()) {
    add_lambda(page, now.layers, now.samples);
    add_attention(page, now.layers, start.samples, now.samples);
    add_attention_parts(page, now.layers, now.samples);
  }
  if (now.has_memory())
    add_memory(page, study_memory(*now.task, read_spec<StackSpec>(config, "model"), glance));
  now.task->illustrate(page);
  if (const auto backtest = now.task->backtest({})) add_backtest(page, *backtest);
  const Path file = directory / "report.html";
  commit_file(storage, file, page.html());
  fmt::print("{}   {}\n", file.string(), contents_of(log, now, linear));
}

}  // namespace

void add_plot(const Command& program) {
  const auto [command, options] =
      program.command("plot", "pictures of a run: RUN/report.html", plot_command);
  add_run(command, options.run);
  command.flag(
      "--json", &options.json,
      "print spectra, kernels and time kernels as JSON lines instead, at the start and now");
  add_model_changes(command, options);
}

}  // namespace bochner

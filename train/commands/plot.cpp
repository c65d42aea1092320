#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/charts/json_columns.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/checkpoint/model_weights.hpp>
#include <bochner/train/run/log/metrics.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/storage/storage.hpp>
#include <bochner/train/studies/backtest_figures.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <bochner/train/studies/memory_study.hpp>
#include <bochner/train/tasks/config_templates/template_request.hpp>
#include <optional>

namespace bochner {
namespace {

/// Model with the attention inputs of its first specimen.
struct Inspected {
  std::unique_ptr<Task> task;  ///< null if its data cannot be read
  std::unique_ptr<Learner> own;
  Learner& learner;
  Specimens specimens;
  std::vector<AttentionLayer> layers;
  std::vector<AttentionSample> samples;

  explicit Inspected(std::unique_ptr<Task> made)
      : task(std::move(made)), learner(task->learner()), specimens(validation_specimens(*task)) {}
  explicit Inspected(std::unique_ptr<Learner> made)
      : own(std::move(made)), learner(*own), specimens(kept_specimens(learner)) {}
  void examine() {
    layers = attention_layers(learner.model());
    if (specimens.count > 0) samples = attention_samples(specimens, layers);
  }
  bool attends() const {
    return std::ranges::any_of(samples, [](const auto& one) { return one.q.dimension() == 4; });
  }
  /// Returns where the tokens of the first specimen in the facts are.
  PlacedExample first_specimen() {
    HasSpecimens* has = learner.abilities().specimens;
    return has && has->specimens() > 0 ? has->placed_specimen(0) : PlacedExample{};
  }
  bool has_memory() const { return specimens.count > 0 && has_blocks(learner.model()); }
};

/// Cheaper than the defaults of `probe`.
constexpr MemoryOptions coarse_memory{.probe = {.draws = 8}, .windows = 4, .length = 1024};

std::string contents_of(const MetricsLog& log, const Inspected& now,
                        const std::vector<LinearPart>& linear) {
  std::vector<std::string> curves;
  for (const auto& [key, name] :
       {std::pair{"loss", "loss"}, {"lr", "learning rate"}, {"grad_norm", "gradient norm"}})
    if (log.curves.contains(key)) curves.push_back(name);
  std::string text = curves.empty() ? "no training losses" : joined(curves);
  if (std::ranges::any_of(now.layers, &AttentionLayer::density))
    text += ", spectrum and k(delta) before and after";
  if (!linear.empty()) text += ", filters and state spaces";
  if (now.attends()) text += ", attention";
  return now.has_memory() ? text + ", memory" : text;
}

struct PlotOptions : ModelOptions {
  std::string output;          ///< "" for report.html of the run, or FILE.html
  std::string x;               ///< column of JSON lines, "" for the step or the line
  std::vector<std::string> y;  ///< columns, none for all
  bool json = false;
};

/// Opens a model with its data, or from its facts if these cannot be read.
Inspected inspected(const LoadedRun& run, bool notes) {
  try {
    return Inspected(make_task(run.config, {run.checkpoint.facts()}));
  } catch (const std::runtime_error& error) {
    if (notes)
      fmt::print(stderr, "note     no pictures of examples: {}\n", printable(error.what()));
  }
  auto learner = initial_learner(run);
  load_buffers(run.checkpoint, learner->model());
  return Inspected(std::move(learner));
}

/// Adds how good the model is, and pictures of its answers.
void add_answers(Page& page, const LoadedRun& run, Inspected& now) {
  if (now.task) add_verdict(page, now.task->verdict(held_out_in(run.config, now.task->data())));
  if (now.task) now.task->illustrate(page);
  now.learner.illustrate(page);
  Backtests* has = now.task ? now.task->abilities().backtests : nullptr;
  if (const auto backtest = has ? has->backtest({}) : std::nullopt) add_backtest(page, *backtest);
}

Page page_of(const PlotOptions& options, const LoadedRun& run, const MetricsLog& log,
             Inspected& start, Inspected& now, const std::vector<LinearPart>& linear) {
  Module &first = start.learner.model(), &model = now.learner.model();
  const std::string data = now.task ? " — " + now.task->data().words() : "";
  const std::string name = parse_run_reference(options.run).directory.string();
  const std::uint64_t step = run.checkpoint.state().step;
  Page page(
      run.config.period("train.steps").off() ? name : fmt::format("{} at step {}", name, step),
      now.learner.describe() + data);
  add_answers(page, run, now);
  add_learning(page, log, run.checkpoint.state(), count_parameters(model), now.learner.loss_unit());
  add_spectra(page, start.layers, now.layers);
  add_time_kernels(page, first, model);
  add_linear_parts(page, linear_parts(first), linear);
  if (now.attends()) {
    add_lambda(page, now.layers, now.samples);
    add_attention(page, now.layers, start.samples, now.samples);
    const PlacedExample placed = now.first_specimen();
    if (!placed.asked.empty())
      add_place_attention(page, placed, now.layers,
                          attention_samples(kept_specimens(now.learner), now.layers));
    add_attention_parts(page, now.layers, now.samples, placed.asked.empty());
  }
  if (now.task) add_frequency_losses(page, *now.task);
  if (now.has_memory())
    add_memory(page, study_memory(model, now.specimens, read_spec<StackSpec>(run.config, "model"),
                                  coarse_memory));
  return page;
}

/// Draws columns of a file of JSON lines.
void plot_lines(const PlotOptions& options) {
  demand(!options.json && options.sets.empty() && !options.live_weights,
         "{}: --json, --set and --live-weights are for a run; remove them", options.run);
  PosixStorage storage;
  const JsonColumns columns = read_json_columns(read_file(storage, options.run), options.run);
  const auto column = [&](const char* option, const std::string& name) {
    return requested_column(columns.names, options.run, option, name);
  };
  std::optional<std::size_t> x;
  if (!options.x.empty() || std::ranges::count(columns.names, "step") > 0)
    x = column("--x", options.x.empty() ? "step" : options.x);
  std::vector<std::string> charts;
  for (const std::string& name : options.y.empty() ? columns.names : options.y) {
    const std::size_t y = column("--y", name);
    if (!options.y.empty() || y != x) charts.push_back(draw(chart_of(columns, x, y)));
  }
  Page page(Path(options.run).filename().string(), format_number_of(columns.lines, "line"));
  page.charts(charts);
  const std::string file = options.output.empty()
                               ? Path(options.run).replace_extension(".html").string()
                               : options.output;
  write_output(file, [&](const Sink& sink) { sink(page.html()); });
  if (file != "-")
    fmt::print("{}   {} of {} over {}\n", printable(file),
               format_number_of(charts.size(), "column"), format_number_of(columns.lines, "line"),
               printable(x ? columns.names[*x] : "lines"));
}

void plot_command(const PlotOptions& options) {
  if (options.run.ends_with(".jsonl")) return plot_lines(options);
  demand(options.x.empty() && options.y.empty(),
         "--x and --y are for a file of JSON lines, such as {}/{}", options.run, metrics_name);
  const LoadedRun run = load_run(options.run, options.sets);
  const Path directory = parse_run_reference(options.run).directory;
  PosixStorage storage;
  const Path metrics = directory / metrics_name;
  const MetricsLog log =
      read_metrics(storage.exists(metrics) ? read_file(storage, metrics) : "", metrics.string());
  Inspected now = inspected(run, true), start = inspected(run, false);
  load_model(run.checkpoint, now.learner.model(), !options.live_weights);
  if (now.task) note_changed_data(run.checkpoint, run.config, now.task->data());
  start.examine();
  now.examine();
  if (options.json) {
    for (const LearnedCurve& curve :
         learned_curves(start.learner.model(), now.learner.model(), start.samples, now.samples))
      print_line(json_of(curve));
    return;
  }
  const std::vector<LinearPart> linear = linear_parts(now.learner.model());
  const Page page = page_of(options, run, log, start, now, linear);
  const std::string file =
      options.output.empty() ? (directory / "report.html").string() : options.output;
  write_output(file, [&](const Sink& sink) { sink(page.html()); });
  if (file != "-") fmt::print("{}   {}\n", file, contents_of(log, now, linear));
}

struct ProbeCommand : ModelOptions {
  MemoryOptions memory;
  std::size_t seed = 1;
  std::string report;
  bool json = false;
};

void probe_command(const ProbeCommand& options) {
  demand(options.memory.windows >= 1 && options.memory.windows <= 10000,
         "--windows {}: must be between 1 and 10000", options.memory.windows);
  demand(options.memory.probe.draws <= 10000, "--draws {}: must be at most 10000",
         options.memory.probe.draws);
  demand(options.memory.probe.draws != 1,
         "--draws 1: must be 0 (exact) or at least 2, to estimate the error");
  demand(options.memory.length != 1, "--length 1: must be 0 (all tokens) or at least 2");
  if (!options.report.empty()) require_folder(options.report);
  const LoadedRun run = load_run(options.run, options.sets);
  const auto learner = load_learner(run, options);
  // The specimens in the facts usually suffice, so that the data are not needed.
  std::optional<LoadedTask> loaded;
  Specimens specimens = kept_specimens(*learner);
  if (options.memory.windows > most_specimens || specimens.count == 0 || sets_data(run.config)) {
    loaded = load_task(options);
    require_validation(*loaded, options);
    specimens = validation_specimens(*loaded->task);
  }
  MemoryOptions how = options.memory;
  how.probe.seed = options.seed;
  how.table_only = !options.json && options.report.empty();
  const MemoryStudy study = study_memory(loaded ? loaded->task->model() : learner->model(),
                                         specimens, read_spec<StackSpec>(run.config, "model"), how);
  fmt::print("{}", options.json ? memory_json(study) : memory_text(study));
  if (options.report.empty()) return;
  Page page(fmt::format("Memory of {} at step {}", options.run, run.checkpoint.state().step),
            learner->describe());
  add_memory(page, study);
  write_output(options.report, [&](const Sink& sink) { sink(page.html()); });
  if (!options.json) fmt::print("report   {}\n", options.report);
}

}  // namespace

void add_plot(const Command& program) {
  const auto [command, options] =
      program.command("plot", "write a report of a run with charts: RUN/report.html", plot_command);
  add_run(command, options.run,
          "RUN, RUN@best or RUN@STEP; or FILE.jsonl, whose numbers become charts in FILE.html");
  command.option("--output,-o", &options.output,
                 "file to write instead of RUN/report.html; - for standard output", "FILE");
  command.option("--x", &options.x,
                 "column of FILE.jsonl for the x axis; by default step, or the line number",
                 "NAME");
  command.option("--y", &options.y, "column of FILE.jsonl to draw; by default all", "NAME");
  command.flag("--json", &options.json,
               "print initial and learned spectra, kernels and time kernels as JSON lines instead");
  add_model_changes(command, options);
}

void add_probe(const Command& program) {
  const auto [command, options] = program.command(
      "probe", "measure the memory of a run: how strongly outputs depend on older inputs",
      probe_command);
  add_run(command, options.run);
  command.number("--draws", &options.memory.probe.draws,
                 "random cotangents per window; 0: one per channel, exact");
  command.number("--windows", &options.memory.windows,
                 "validation examples; more than 16 are read from the data");
  command.number("--length", &options.memory.length, "tokens of each example, 0 for all");
  command.number("--seed", &options.seed, "seed of the cotangents");
  command.option("--report", &options.report, "also write a page with charts", "FILE");
  command.flag("--json", &options.json, "print JSON lines");
  add_model_changes(command, options);
}

}  // namespace bochner

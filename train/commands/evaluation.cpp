#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/commands/calibrated_run.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/run/distributed_evaluation.hpp>
#include <bochner/train/studies/backtest_figures.hpp>
#include <bochner/train/studies/eval_scores.hpp>
#include <bochner/train/tasks/conformal/calibrate.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/train_spec.hpp>

namespace bochner {
namespace {

struct EvalOptions : ModelOptions {
  std::string file;  ///< other data, "" for those of the run
  std::string split = "validation";
  std::size_t backtest = 0, stride = 0, season = 0;
  bool json = false;
  bool calibration = false;
  std::optional<double> coverage = {};
  std::size_t draws = 0;
  CommandLine* line = nullptr;
};

Split split_called(const std::string& name) {
  if (name == "train") return Split::train;
  if (name == "validation") return Split::validation;
  if (name == "test") return Split::test;
  throw std::invalid_argument("--split " + name + ": must be train, validation or test");
}

void eval_predictions(const EvalOptions& options, const Config& config, Task& task, Split split,
                      std::uint64_t step) {
  const auto train = read_spec<TrainSpec>(config, "train");
  DrawnPosteriors posteriors(task.model(), train.seed);
  require_posterior(posteriors, options.draws);
  std::vector<std::size_t> counts{0};
  if (options.draws > 0) counts.push_back(options.draws);
  for (const std::size_t draws : counts) {
    const PredictiveScores scores =
        score_predictions(task, posteriors, split, train.validation_batch(), draws);
    if (options.json) {
      print_line(Json{{"step", step}, {"draws", draws}}.set(scores.json()));
    } else {
      fmt::print("step {}   {:<10} {}\n", step,
                 draws == 0 ? "parameters" : format_number_of(draws, "draw"), scores.words());
    }
  }
}

/// Prints one figure as JSON: `row` 0 for the whole horizon, else a row from 1.
void print_figure(const BacktestFigure& figure, std::size_t row, const Resampled& value) {
  print_line({{"forecast", figure.forecast},
              {"row", row},
              {"measure", figure.measure},
              {"value", value.value},
              {"low", value.low},
              {"high", value.high}});
}

void print_backtest_json(const Backtest& backtest, std::uint64_t step) {
  print_line({{"step", step},
              {"origins", backtest.starts},
              {"stride", backtest.stride},
              {"season", backtest.season},
              {"unit", backtest.unit}});
  for (const BacktestFigure& figure : figures_of(backtest)) {
    print_figure(figure, 0, figure.all);
    for (std::size_t h = 0; h < figure.rows.size(); ++h)
      print_figure(figure, h + 1, figure.rows[h]);
  }
}

/// Prints errors over the whole horizon with intervals, then by row without.
void print_backtest(const Backtest& backtest, std::uint64_t step) {
  constexpr const char* line = "{:>6} {:<9}";
  const std::vector<BacktestFigure> figures = figures_of(backtest);
  fmt::print("step {}   {} origins, {} rows apart, {} to {}; errors in {}\n", step,
             backtest.starts.size(), backtest.stride, backtest.starts.front(),
             backtest.starts.back(), printable(unit_words(backtest)));
  const std::size_t measures = figures.size() / backtest.forecasts.size();
  fmt::print(line, "rows", "");
  for (const Backtest::Forecast& forecast : backtest.forecasts)
    fmt::print("  {:>28}", forecast.name);
  for (std::size_t m = 0; m < measures; ++m) {
    fmt::print("\n");
    fmt::print(line, "all", figures[m].measure);
    for (std::size_t i = m; i < figures.size(); i += measures)
      fmt::print("  {:>28}", interval_words(figures[i].all));
  }
  for (std::size_t h = 0; h < backtest.horizon; ++h) {
    fmt::print("\n");
    fmt::print(line, h + 1, "rmse");
    for (std::size_t i = 0; i < figures.size(); i += measures)
      fmt::print("  {:>28.4g}", figures[i].rows[h].value);
  }
  fmt::print("\n");
}

void run_backtest(const EvalOptions& options, Split split, Task& task, std::uint64_t step) {
  Backtests* has = task.abilities().backtests;
  const auto backtest =
      has ? has->backtest({split, options.backtest, options.stride, options.season}) : std::nullopt;
  demand(backtest.has_value(), "--backtest applies to forecasters, not to this model: {}",
         task.learner().describe());
  options.json ? print_backtest_json(*backtest, step) : print_backtest(*backtest, step);
}

/// Prints how often intervals or sets hold: of other data all, else of the test split.
void eval_coverage(const EvalOptions& options, Task& task, std::uint64_t step) {
  const Split split =
      !options.file.empty() || options.split == "train" ? Split::train : Split::test;
  const Calibration calibration = calibration_of(load_run(options.run, options.sets), options);
  const CoverageReport report = coverage_of(calibration, task, split, *options.coverage,
                                            std::max<std::size_t>(1, options.stride));
  if (!options.json)
    fmt::print("step {}   {} of {:g} % in {}; widths in {}\n", step,
               report.unit == "classes" ? "sets" : "intervals", 100 * *options.coverage,
               options.file.empty() ? fmt::format("the {} split", name_of(split))
                                    : printable(options.file),
               report.unit);
  for (const Coverage& method : report.methods) {
    const double n = std::max(1.0, method.terms);
    if (options.json)
      print_line({{"step", step},
                  {"level", *options.coverage},
                  {"method", method.name},
                  {"terms", method.terms},
                  {"coverage", method.covered / n},
                  {"width", method.width / n}});
    else
      fmt::print("{:<20} {:>7.2f} % hold   width {:.4g}   of {:.0f}\n", printable(method.name),
                 100 * method.covered / n, method.width / n, method.terms);
  }
}

/// Throws if the processes read different data. Skips large texts: reading takes longer than
/// evaluating.
void require_one_data(Processes& processes, const Dataset& data) {
  const ByteCorpus* corpus = data.corpus();
  if (processes.size() > 1 && !(corpus && corpus->marks() != 0))
    require_one_text(processes, std::to_string(data.fingerprint()), "data");
}

/// Prints an evaluation, and of other data the verdict.
void print_evaluation(const EvalOptions& options, const Evaluation& result, const Verdict& verdict,
                      const Dataset& data, std::uint64_t step) {
  if (options.json) {
    const bool is_test = !options.file.empty();
    Json numbers = result.json(is_test                         ? "test"
                               : options.split == "validation" ? "valid"
                                                               : options.split);
    if (verdict.exists()) numbers.set("verdict", verdict.json());
    return print_line(Json{{"step", step}}.set(numbers));
  }
  fmt::print("step {}   {}   {}\n", step, printable(result.words()),
             printable(options.file.empty() ? data.words() : options.file));
  if (verdict.exists()) fmt::print("verdict  {}\n", printable(verdict.words()));
}

std::vector<std::filesystem::path> files_of(const Config& config) {
  std::vector<std::filesystem::path> files;
  for (const std::string& file : config.text_list("data.files"))
    files.push_back(std::filesystem::weakly_canonical(file));
  return files;
}

/// Says that a model has seen the data, where it was trained on the same files.
Verdict of_other_data(Verdict verdict, const CheckpointReader& checkpoint, const Config& config) {
  const Config run = stored_config(checkpoint.config(), checkpoint.path().string());
  if (!verdict.exists() || files_of(run) != files_of(config)) return verdict;
  constexpr std::string_view held = "held-out ";
  if (const std::size_t at = verdict.data.find(held); at != verdict.data.npos)
    verdict.data.replace(at, held.size(), "");
  verdict.remark += verdict.remark.empty() ? "" : "; ";
  verdict.remark += "the run was trained on this file";
  return verdict;
}

void eval_command(const EvalOptions& options) {
  const bool other = !options.file.empty();
  demand(!other || options.split == "validation", "--split has no effect with a file; remove it");
  const Split split = other ? Split::train : split_called(options.split);
  demand(options.backtest > 0 || options.season == 0,
         "--season requires --backtest, the number of origins");
  demand(options.backtest > 0 || options.coverage || options.stride == 0,
         "--stride requires --backtest, the number of origins, or --coverage");
  if (options.coverage) require_level(*options.coverage);
  demand(!options.coverage || (options.backtest == 0 && options.draws == 0 && !options.calibration),
         "--coverage has no effect with --backtest, --draws and --calibration; remove them");
  SharedWork work(*options.line);
  const auto [checkpoint, config, task] = work.first_opens(options, [&](const auto& opened) {
    LoadedTask loaded = load_task(opened, opened.file);
    if (!opened.coverage)
      require_examples(loaded.config, loaded.task->data(), split, "--split " + options.split);
    return loaded;
  });
  const std::uint64_t step = checkpoint.state().step;
  if (options.coverage) {
    if (work.leads()) eval_coverage(options, *task, step);
    return work.end();
  }
  BoundsByDraws* bounds = task->abilities().bounds;
  const bool weighted = bounds && options.draws > 0 && !options.calibration;
  if (weighted) bounds->evaluate_by(options.draws);
  if (options.calibration || (options.draws > 0 && !weighted) || options.backtest > 0) {
    if (work.leads() && options.backtest > 0) run_backtest(options, split, *task, step);
    if (work.leads() && options.backtest == 0)
      eval_predictions(options, config, *task, split, step);
    return work.end();
  }
  require_one_data(work.processes(), task->data());
  const auto train = read_spec<TrainSpec>(config, "train");
  Evaluation result = evaluate_all(*task, split, train.validation_batch(), work.processes());
  work.end();
  if (!work.leads()) return;
  std::ranges::move(probe_measures(*task, split, train.validation_batch(), train.seed),
                    std::back_inserter(result.measures));
  const HeldOut held{split, train.validation_batch(), 0, result};
  const Verdict verdict =
      other ? of_other_data(task->verdict(held), checkpoint, config) : Verdict();
  print_evaluation(options, result, verdict, task->data(), step);
}

}  // namespace

void add_eval(const Command& program) {
  const auto [command, options] =
      program.command("eval", "evaluate a run on held-out data, or on a file", eval_command);
  command.memory_advice("out of memory; lower train.validate.batch or data.length, with --set");
  options.line = command.shares_work();
  add_run(command, options.run);
  command.option("file", &options.file,
                 "data like those of the run, to evaluate all of them beside naive answers",
                 "FILE");
  command.option("--split", &options.split, "train, validation or test").shows_default();
  command.option("--backtest", &options.backtest,
                 "forecasters: errors at the last N rolling origins of the split, by row of the "
                 "horizon, next to the last value and the last season as baselines",
                 "N");
  command.option("--stride", &options.stride,
                 "rows between origins (default: the horizon; of --coverage: 1)", "ROWS");
  command.option("--season", &options.season,
                 "period of the series in rows (default: inferred from time stamps)", "ROWS");
  command.number(
      "--coverage", &options.coverage,
      "how often intervals of this probability hold in the test split, or in FILE: split "
      "conformal ones, and those that adapt to the rows before; classes: sets of them");
  command.flag("--json", &options.json, "print JSON");
  command.flag(
      "--calibration", &options.calibration,
      "calibration of predictions: expected calibration error of classes, coverage of 90 % "
      "intervals of values");
  command.number(
      "--draws", &options.draws,
      "average predictions over N draws of the posterior (density.posterior), 0 uses the "
      "learned parameters; vae: importance-weighted bound of N draws");
  add_model_changes(command, options);
}

}  // namespace bochner

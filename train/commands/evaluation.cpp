#include <fmt/format.h>

#include <bochner/data/files/text.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/laboratory/predictive_scores.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/train_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct EvalOptions : ModelOptions {
  std::string split = "validation";
  bool json = false;
  bool calibration = false;
  std::size_t draws = 0;
};

Split split_called(const std::string& name) {
  if (name == "train") return Split::train;
  if (name == "validation") return Split::validation;
  if (name == "test") return Split::test;
  throw std::invalid_argument("--split " + name + ": must be train, validation or test");
}

/// How sure predictions are, with the parameters as they are and averaged over draws.
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
      fmt::print("{}\n", Json{{"step", step}, {"draws", draws}}.set(scores.json()).line());
    } else {
      fmt::print("step {}   {:<10} {}\n", step,
                 draws == 0 ? "parameters" : format_number_of(draws, "draw"), scores.words());
    }
  }
}

void eval_command(const EvalOptions& options) {
  const Split split = split_called(options.split);
  const auto [checkpoint, config, task] = load_task(options);
  require_examples(config, task->data(), split);
  const std::uint64_t step = checkpoint.state().step;
  if (options.calibration || options.draws > 0)
    return eval_predictions(options, config, *task, split, step);
  const auto train = read_spec<TrainSpec>(config, "train");
  const Evaluation result = evaluate_all(*task, split, train.validation_batch());
  if (!options.json)
    return fmt::print("step {}   {}   {}\n", step, printable(result.words()),
                      printable(task->data().words()));
  const Json numbers = result.json(split == Split::validation ? "valid" : options.split);
  fmt::print("{}\n", Json{{"step", step}}.set(numbers).line());
}

}  // namespace

void add_eval(const Command& program) {
  const auto [command, options] =
      program.command("eval", "loss of a run on held-out data", eval_command);
  add_run(command, options.run);
  command.option("--split", &options.split, "train, validation or test").shows_default();
  command.flag("--json", &options.json, "print JSON");
  command.flag("--calibration", &options.calibration,
               "whether predictions are as sure as they are right: the expected calibration error "
               "of answers, the coverage of 90 % intervals of values");
  add_draws(command, options.draws);
  add_model_changes(command, options);
}

}  // namespace bochner::inline BOCHNER_PRECISION

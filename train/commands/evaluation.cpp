#include <fmt/format.h>

#include <bochner/data/files/text.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/run/whole_evaluation.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/train_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct EvalOptions : ModelOptions {
  std::string split = "validation";
  bool json = false;
  CommandLine* line = nullptr;
};

Split split_called(const std::string& name) {
  if (name == "train") return Split::train;
  if (name == "validation") return Split::validation;
  if (name == "test") return Split::test;
  throw std::invalid_argument("--split " + name + ": must be train, validation or test");
}

void eval_command(const EvalOptions& options) {
  const Split split = split_called(options.split);
  SharedWork work(*options.line);
  const auto [checkpoint, config, task] = work.first_alone([&] {
    LoadedTask loaded = load_task(options);
    require_examples(loaded.config, loaded.task->data(), split);
    return loaded;
  });
  const std::uint64_t step = checkpoint.state().step;
  const auto train = read_spec<TrainSpec>(config, "train");
  const Evaluation result = evaluate_all(*task, split, train.validation_batch(), work.processes());
  work.end();
  if (!work.leads()) return;
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
  options.line = &command.line();
  add_run(command, options.run);
  command.option("--split", &options.split, "train, validation or test").shows_default();
  command.flag("--json", &options.json, "print JSON");
  add_model_changes(command, options);
}

}  // namespace bochner::inline BOCHNER_PRECISION

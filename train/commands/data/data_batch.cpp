#include <fmt/format.h>

#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/trainer.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/arrays.hpp>

namespace bochner {
namespace {

struct BatchOptions : ModelOptions {
  std::optional<std::size_t> step;
  std::string output;
  bool gradients = false, json = false;
};

/// Returns the first example of a step, counted forward or back from the checkpoint. A fork may
/// have used other batches before.
std::uint64_t first_example(const TrainerState& state, const TrainSpec& train, std::uint64_t step) {
  const std::uint64_t each = train.examples_per_step();
  if (train.overfit) return 0;
  if (step >= state.step) return state.examples + (step - state.step) * each;
  return state.examples - std::min(state.examples, (state.step - step) * each);
}

void print_numbers(const Examples& examples, std::uint64_t step, bool json) {
  if (!json) fmt::print("step {}\n{:>12} {:>8}\n", step, "example", "epoch");
  for (const auto& [index, epoch] : examples.numbers) {
    if (json)
      print_line({{"step", step}, {"example", index}, {"epoch", epoch}});
    else
      fmt::print("{:>12} {:>8}\n", index, epoch);
  }
}

/// Returns the loss in evaluation mode, with the weights of the checkpoint.
double loss_of(Task& task, const Examples& examples) {
  Tape tape({.recording = false});
  return double(task.loss(tape, examples).value().data()[0]);
}

/// Adds the loss and its gradients as training computes them, with dropout and new draws, but with
/// the weights of the checkpoint.
void add_gradients(NamedArrays& arrays, const Config& config, Task& task, std::uint64_t step,
                   std::uint64_t first) {
  Trainer trainer(config, task, step + 1);
  trainer.state().step = step;
  trainer.state().examples = first;
  arrays.emplace_back("training_loss", xt::xarray<double>(trainer.differentiate()));
  for (const NamedParameter& named : parameters_of(task.model()))
    if (named.parameter->has_gradient())
      arrays.emplace_back("gradients/" + named.name, array_of(named.parameter->gradient()));
}

void data_batch_command(const BatchOptions& options) {
  demand(!options.gradients || !options.output.empty(),
         "data batch --gradients requires --output FILE.npz");
  demand(options.output.empty() || ends_in(options.output, ".npz"),
         "data batch --output {}: holds several arrays, so its name must end in .npz",
         options.output);
  const auto [checkpoint, config, task] = load_task(options);
  const TrainerState& state = checkpoint.state();
  const auto train = read_spec<TrainSpec>(config, "train");
  const std::uint64_t step = options.step.value_or(state.step),
                      first = first_example(state, train, step);
  const Examples examples = task->data().training(first, train.examples_per_step());
  print_numbers(examples, step, options.json);
  const double loss = loss_of(*task, examples);
  if (options.json)
    print_line({{"step", step}, {"loss", loss}});
  else
    fmt::print("loss {:.7g} {}\n", loss, task->learner().loss_unit());
  if (options.output.empty()) return;
  NamedArrays arrays = task->arrays(examples);
  arrays.emplace_back("loss", xt::xarray<double>(loss));
  if (options.gradients) add_gradients(arrays, config, *task, step, first);
  write_output(options.output, [&](const Sink& sink) { write_npz(arrays, sink); });
}

}  // namespace

void add_data_batch(const Command& group) {
  const auto [command, options] = group.command(
      "batch", "print the examples and loss of a training step; write outputs and gradients",
      data_batch_command);
  add_run(command, options.run);
  command.option("--step", &options.step, "step from 0 (default: the one after the checkpoint)",
                 "N");
  command.option("--output,-o", &options.output, "write examples, loss and outputs as arrays, .npz",
                 "FILE");
  command.flag("--gradients", &options.gradients, "also write the gradients of all parameters");
  command.flag("--json", &options.json, "print JSON lines");
  add_model_changes(command, options);
}

}  // namespace bochner

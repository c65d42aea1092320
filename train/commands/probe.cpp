#include <fmt/format.h>

#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/studies/memory_study.hpp>
#include <optional>

namespace bochner {
namespace {

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

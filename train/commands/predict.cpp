#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct PredictOptions : ModelOptions {
  std::string input = "-", output = "-";  ///< .npy or CSV files; "-" for standard input and output
};

void predict_command(const PredictOptions& options) {
  const auto [checkpoint, config, task] = load_task(options);
  ReadOptions reading = table_options(config);
  reading.csv.named_columns = task->input_columns();
  write_array(options.output, task->predict(read_array(options.input, reading)));
}

}  // namespace

void add_predict(const Command& program) {
  const auto [command, options] =
      program.command("predict", "what a model says about new data", predict_command);
  add_run(command, options.run);
  command.option("input", &options.input, readable_formats).shows_default();
  command.option("--output,-o", &options.output, writable_names, "FILE").shows_default();
  add_model_changes(command, options);
}

}  // namespace bochner::inline BOCHNER_PRECISION

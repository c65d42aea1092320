#include <bochner/train/commands/commands.hpp>
#include <bochner/train/commands/exit_codes.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/table_options.hpp>

namespace bochner::inline BOCHNER_PRECISION {

int predict_command(const std::string& run, const PredictionOptions& options) {
  PosixStorage storage;
  const auto [checkpoint, config] = load_run(storage, run, options.sets);
  const auto task = make_task(config);
  load_model(checkpoint, task->model(), options.averaged);
  ReadOptions reading = table_options(config);
  reading.csv.named_columns = task->input_columns();
  write_array(options.output, task->predict(read_array(options.input, reading)));
  return exit_done;
}

}  // namespace bochner::inline BOCHNER_PRECISION

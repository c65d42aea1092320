#include <fmt/format.h>

#include <bochner/data/formats/read_array.hpp>
#include <bochner/layers/encodings/fused_compression.hpp>
#include <bochner/layers/encodings/fused_projection.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct EvalOptions : ModelOptions {
  std::string split = "validation";
  bool json = false;
};

struct PredictOptions : ModelOptions {
  std::string input = "-", output = "-";  ///< .npy or CSV files; "-" for standard input and output
};

Split split_called(const std::string& name) {
  if (name == "train") return Split::train;
  if (name == "validation") return Split::validation;
  if (name == "test") return Split::test;
  throw std::invalid_argument("--split " + name + ": must be train, validation or test");
}

void eval_command(const EvalOptions& options) {
  const Split split = split_called(options.split);
  const auto [checkpoint, config, task] = load_task(options);
  const std::uint64_t step = checkpoint.state().step;
  const Evaluation result = *evaluate_task(*task, split, config.count("train.batch"));
  if (!options.json)
    return fmt::print("step {}   {}   {}\n", step, result.words(), task->data().words());
  const Json numbers = result.json(split == Split::validation ? "valid" : options.split);
  fmt::print("{}\n", Json{{"step", step}}.set(numbers).line());
}

void predict_command(const PredictOptions& options) {
  const auto [checkpoint, config, task] = load_task(options);
  ReadOptions reading = table_options(config);
  reading.csv.named_columns = task->input_columns();
  std::erase(reading.csv.columns, config.text("data.label_column"));  // labels are what is asked
  if (config.flag("data.stamps") && reading.csv.missing == "refuse")
    reading.csv.missing = "nan";  // rows without values are asked for
  write_array(options.output, task->predict(read_array(options.input, reading)));
}

struct CompressOptions : ModelOptions {
  std::optional<double> prune;
  std::optional<int> bits;
  std::optional<std::size_t> rank;
  bool json = false;
};

struct Variant {
  std::string name;
  CompressedMatrix matrix;
  double loss = 0;
};

std::vector<Variant> variants_of(const CompressOptions& options, const Tensor& w, const Tensor& x) {
  std::vector<Variant> variants{{"as trained", {w, 0, 4 * w.size()}}};
  Tensor mask;
  if (options.prune)
    variants.push_back(
        {fmt::format("pruned by {:g}", *options.prune), pruned(w, x, 1 - *options.prune, mask)});
  if (options.bits)
    variants.push_back({fmt::format("{} bits", *options.bits), quantized(w, x, *options.bits)});
  if (options.rank)
    variants.push_back({fmt::format("rank {}", *options.rank), low_rank(w, x, *options.rank)});
  return variants;
}

/// W, and what it is applied to for the tokens of the model.
struct Projection {
  Parameter& weight;
  Tensor inputs;
};

Projection projection_of(Task& task, const std::string& run) {
  auto* field = dynamic_cast<FieldModel*>(&task.model());
  auto* fused = field ? dynamic_cast<FusedProjection*>(field->encoder()) : nullptr;
  demand(fused,
         "{}: has no W to compress; this is for model.kind = \"field\" with the encodings fused, "
         "space and time",
         run);
  Tape tape;
  tape.recording = false;
  return {fused->weight(),
          fused->inputs(tape, field->token_places(), field->token_times()).value()};
}

std::string text_of(const std::vector<Variant>& variants) {
  std::string text =
      fmt::format("{:<14} {:>10} {:>12} {:>12} {:>9}\n", "", "bytes", "error", "valid", "change");
  for (const auto& [name, matrix, loss] : variants)
    text += fmt::format("{:<14} {:>10} {:>11.2f}% {:>12.6f} {:>+8.2f}%\n", name, matrix.bytes,
                        100 * matrix.error, loss, 100 * (loss / variants[0].loss - 1));
  return text;
}

Json json_of(const std::vector<Variant>& variants) {
  Json lines;
  for (const auto& [name, matrix, loss] : variants)
    lines.push({{"variant", name},
                {"bytes", matrix.bytes},
                {"error", matrix.error},
                {"valid", loss},
                {"change", loss / variants[0].loss - 1}});
  return lines;
}

/// Loss of a field model before and after each of these is done to W of its fused encoding.
void compress_command(const CompressOptions& options) {
  demand(options.prune || options.bits || options.rank,
         "compress: nothing to do; give --prune, --bits or --rank");
  const auto [checkpoint, config, task] = load_task(options);
  const auto [weight, inputs] = projection_of(*task, options.run);
  std::vector<Variant> variants = variants_of(options, weight.value(), inputs);
  for (Variant& variant : variants) {
    weight.value() = variant.matrix.weight;
    variant.loss = evaluate_task(*task, Split::validation, config.count("train.batch"))->loss();
  }
  const Json json = {{"step", checkpoint.state().step}, {"variants", json_of(variants)}};
  fmt::print("{}", options.json ? json.line() + "\n" : text_of(variants));
}

}  // namespace

void add_eval(const Command& program) {
  const auto [command, options] =
      program.command("eval", "loss of a run on held-out data", eval_command);
  add_run(command, options.run);
  command.option("--split", &options.split, "train, validation or test").shows_default();
  command.flag("--json", &options.json, "print JSON");
  add_model_changes(command, options);
}

void add_predict(const Command& program) {
  const auto [command, options] =
      program.command("predict", "what a model says about new data", predict_command);
  add_run(command, options.run);
  command.option("input", &options.input, readable_formats).shows_default();
  command.option("--output,-o", &options.output, writable_names, "FILE").shows_default();
  add_model_changes(command, options);
}

void add_compress(const Command& program) {
  const auto [command, options] = program.command(
      "compress", "loss of a field with its encoding pruned, in few bits, of low rank",
      compress_command);
  add_run(command, options.run);
  command.option("--prune", &options.prune, "fraction that is set to zero").between(0.0, 1.0);
  command.option("--bits", &options.bits, "bits of an entry, with a unit for each row")
      .between(2, 16);
  command.option("--rank", &options.rank, "rank of two factors").positive();
  command.flag("--json", &options.json, "print JSON");
  add_model_changes(command, options);
}

}  // namespace bochner::inline BOCHNER_PRECISION

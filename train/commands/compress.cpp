#include <fmt/format.h>

#include <bochner/layers/encodings/fused_compression.hpp>
#include <bochner/layers/encodings/fused_projection.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct CompressOptions : ModelOptions {
  std::optional<double> prune;
  std::optional<int> bits;
  std::optional<std::size_t> rank;
  bool json = false;
};

struct Variant {
  std::string name;
  std::function<CompressedMatrix(const Tensor& w, const Tensor& x)> compress;
};

std::vector<Variant> variants_of(const CompressOptions& options) {
  std::vector<Variant> variants = {{"as trained", [](const Tensor& w, const Tensor&) {
                                      return CompressedMatrix{w, 0, 4 * w.size()};
                                    }}};
  if (options.prune)
    variants.push_back(
        {fmt::format("pruned by {:g}", *options.prune), [&](const Tensor& w, const Tensor& x) {
           Tensor mask;
           return pruned(w, x, 1 - *options.prune, mask);
         }});
  if (options.bits)
    variants.push_back(
        {fmt::format("{} bits", *options.bits),
         [&](const Tensor& w, const Tensor& x) { return quantized(w, x, *options.bits); }});
  if (options.rank)
    variants.push_back(
        {fmt::format("rank {}", *options.rank),
         [&](const Tensor& w, const Tensor& x) { return low_rank(w, x, *options.rank); }});
  demand(variants.size() > 1, "compress: nothing to do; give --prune, --bits or --rank");
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

struct CompressedLoss {
  std::string name;
  std::size_t bytes;
  double error, loss;
};

/// The loss with W replaced; W is put back.
CompressedLoss loss_with(Task& task, const Projection& projection, const Variant& variant,
                         std::size_t batch) {
  Tensor& w = projection.weight.value();
  const Tensor original = w;
  CompressedMatrix smaller = variant.compress(w, projection.inputs);
  w = std::move(smaller.weight);
  const double loss = evaluate_task(task, Split::validation, batch)->loss();
  w = original;
  return {variant.name, smaller.bytes, smaller.error, loss};
}

std::string text_of(const std::vector<CompressedLoss>& outcomes) {
  std::string text =
      fmt::format("{:<14} {:>10} {:>12} {:>12} {:>9}\n", "", "bytes", "error", "valid", "change");
  for (const auto& [name, bytes, error, loss] : outcomes)
    text += fmt::format("{:<14} {:>10} {:>11.2f}% {:>12.6f} {:>+8.2f}%\n", name, bytes, 100 * error,
                        loss, 100 * (loss / outcomes[0].loss - 1));
  return text;
}

Json json_of(const std::vector<CompressedLoss>& outcomes) {
  Json lines;
  for (const auto& [name, bytes, error, loss] : outcomes)
    lines.push({{"variant", name},
                {"bytes", bytes},
                {"error", error},
                {"valid", loss},
                {"change", loss / outcomes[0].loss - 1}});
  return lines;
}

/// Loss of a field model before and after each of these is done to W of its fused encoding.
void compress_command(const CompressOptions& options) {
  const std::vector<Variant> variants = variants_of(options);
  const auto [checkpoint, config, task] = load_task(options);
  const Projection projection = projection_of(*task, options.run);
  const std::size_t batch = config.count("train.batch");
  std::vector<CompressedLoss> outcomes;
  for (const Variant& variant : variants)
    outcomes.push_back(loss_with(*task, projection, variant, batch));
  const Json json = {{"step", checkpoint.state().step}, {"variants", json_of(outcomes)}};
  fmt::print("{}", options.json ? json.line() + "\n" : text_of(outcomes));
}

}  // namespace

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

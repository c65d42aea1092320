#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/layers/encodings/fused_compression.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/train/commands/bench/encoding.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/checkpoint/packed_matrix.hpp>
#include <bochner/train/run/checkpoint/safetensors.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/tasks/fields/field_data.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/train_spec.hpp>
#include <deque>
#include <map>

namespace bochner {
namespace {

struct CompressOptions : ModelOptions {
  std::optional<double> prune;
  std::optional<int> bits;
  std::optional<std::size_t> rank;
  std::string output;
  bool json = false;
};

struct Variant {
  std::string name;
  CompressedMatrix matrix;
  double loss = 0;
};

/// Returns the original first, pruned second, low rank last; `mask` receives the pruning mask.
std::vector<Variant> variants_of(const CompressOptions& options, const Tensor& w, const Tensor& x,
                                 Tensor& mask) {
  std::vector<Variant> variants{{"as trained", {w, 0, 4 * w.size()}}};
  if (options.prune)
    variants.push_back(
        {fmt::format("pruned by {:g}", *options.prune), pruned(w, x, 1 - *options.prune, mask)});
  if (options.bits)
    variants.push_back({fmt::format("{} bits", *options.bits), quantized(w, x, *options.bits)});
  if (options.rank) {
    CompressedMatrix matrix = low_rank(w, x, *options.rank);
    const std::size_t rank = matrix.left.shape()[1];  // limited by the shape of W
    variants.push_back({fmt::format("rank {}", rank), std::move(matrix)});
  }
  return variants;
}

/// W with the grid of inputs it is applied to for the model's tokens.
struct TrainedProjection {
  FusedProjection& fused;
  GridAxes space;
  std::vector<double> times;
  Tensor inputs;
};

TrainedProjection projection_of(Task& task, const std::string& run) {
  auto* field = dynamic_cast<FieldModel*>(&task.model());
  auto* fused = field ? dynamic_cast<FusedProjection*>(field->encoder()) : nullptr;
  demand(fused,
         "{}: has no W to compress; compress applies to model.kind = \"field\" with the encodings "
         "fused, space and time",
         run);
  std::vector<double> times = field->token_times();
  times.erase(std::unique(times.begin(), times.end()), times.end());
  Tape tape({.recording = false});
  return {*fused, field->patch_axes(), times, fused->grid_inputs(tape, field->patch_axes(), times)};
}

/// Model with all compressions applied: W as the options say, other weight matrices in as many
/// bits. Its parameters hold the values that its file stores.
class CompressedModel {
 public:
  CompressedModel(Module& model, const TrainedProjection& projection,
                  const CompressOptions& options, const std::vector<Variant>& variants,
                  const Tensor& mask)
      : model_(model) {
    if (options.prune) projection.fused.mask() = mask;
    const Packing packing{options.bits.value_or(32), options.prune.has_value()};
    for (const NamedParameter& named : parameters_of(model)) {
      Parameter& parameter = *named.parameter;
      if (&parameter == &projection.fused.weight()) {
        const Tensor w = parameter.value();
        const std::string packed = pack_projection(options, variants, projection, packing);
        keep(model_prefix + named.name, packed, parameter.value());
        matrix_ = measured(w, parameter.value(), projection.inputs, packed.size());
      } else if (options.bits && named.name.ends_with("weight") && parameter.shape().size() == 2) {
        keep(model_prefix + named.name, pack_matrix(parameter.value(), {*options.bits}),
             parameter.value());
      }
    }
    for (const NamedTensor& named : buffers_of(model))
      if (named.tensor == &projection.fused.mask())
        keep(buffer_prefix + named.name, pack_matrix(*named.tensor, {1}), *named.tensor);
  }

  /// Returns W now, with the error against the original.
  const CompressedMatrix& matrix() const { return matrix_; }

  /// Returns weights and buffers, then the tensors "start/.." of the checkpoint.
  std::vector<TensorRecord> records(const CheckpointReader& checkpoint) {
    std::vector<TensorRecord> all;
    for (const NamedParameter& named : parameters_of(model_))
      all.push_back(record(model_prefix + named.name, named.parameter->value()));
    for (const NamedTensor& named : buffers_of(model_))
      all.push_back(record(buffer_prefix + named.name, *named.tensor));
    for (const StoredTensor& stored : checkpoint.tensors()) {
      if (!stored.name.starts_with("start/")) continue;
      others_.push_back(checkpoint.load(stored.name));
      all.push_back({stored.name, stored.shape, others_.back().data()});
    }
    return all;
  }

 private:
  static std::string pack_projection(const CompressOptions& options,
                                     const std::vector<Variant>& variants,
                                     const TrainedProjection& projection, const Packing& packing) {
    if (options.rank)
      return pack_product(variants.back().matrix.left, variants.back().matrix.right, packing);
    const Tensor& w = variants[0].matrix.weight;
    if (!options.prune) return pack_matrix(w, packing);
    Tensor mask;
    return pack_matrix(pruned(w, projection.inputs, 1 - *options.prune, mask, packing.bits).weight,
                       packing);
  }
  void keep(const std::string& name, const std::string& packed, Tensor& tensor) {
    unpack_matrix(packed, tensor);
    packed_[name] = packed;
  }
  TensorRecord record(const std::string& name, const Tensor& tensor) const {
    const auto found = packed_.find(name);
    return {name, tensor.shape(), tensor.data(), found == packed_.end() ? "" : found->second};
  }

  Module& model_;
  CompressedMatrix matrix_;
  std::map<std::string, std::string> packed_;
  std::deque<Tensor> others_;
};

/// Returns the bytes that `bochner export` writes for the uncompressed model.
std::uint64_t exported_bytes(Module& model, const CheckpointReader& checkpoint) {
  std::vector<TensorRecord> records;
  for (const NamedParameter& named : parameters_of(model))
    records.push_back({named.name, named.parameter->shape(), named.parameter->value().data()});
  for (const NamedTensor& named : buffers_of(model))
    records.push_back({named.name, named.tensor->shape(), named.tensor->data()});
  std::uint64_t bytes = 0;
  write_safetensors([&](std::string_view piece) { bytes += piece.size(); }, std::move(records),
                    texts_of(checkpoint));
  return bytes;
}

struct Written {
  Path path;
  std::uint64_t bytes, exported, checkpoint;
};

/// Writes a run that continues at the same step, with moments from zero.
Written write_run(const CompressOptions& options, const CheckpointReader& checkpoint, Config config,
                  CompressedModel& model, double loss) {
  if (config.number("optim.ema") > 0)
    apply_set(config, "optim.ema=0");  // the averaged weights are written
  PosixStorage storage;
  RunDirectory run = RunDirectory::create(
      storage, options.output, print_config(config),
      run_metadata(config, "bochner compress " + options.run, checkpoint.path().string()));
  TrainerState state = checkpoint.state();
  state.optimizer_steps = state.ema_steps = state.metrics_bytes = state.loss_count = 0;
  state.loss_sum = 0;
  state.best.clear();
  state.improved_metric = std::numeric_limits<double>::infinity();
  state.metrics_digests.clear();
  state.metrics_lines = 1;
  state.metrics_waiting.clear();
  record_improvement(state, loss, 0);
  record_best(state, loss, 1);
  auto facts = decode_facts<FieldFacts>(checkpoint.facts());
  facts.specimens.clear();  // most of a small file
  const Path path =
      run.save({print_config(config), model.records(checkpoint), state, encode_facts(facts)});
  return {path, storage.open_read(path)->size(), 0, storage.open_read(checkpoint.path())->size()};
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

std::string text_of(const Written& written) {
  const auto part_of = [&](std::uint64_t whole) {
    return fmt::format("{:.1f} % of the {}", 100 * double(written.bytes) / double(whole),
                       format_bytes(double(whole)));
  };
  return fmt::format("{}   {}, {} that bochner export writes, {} of the checkpoint\n",
                     written.path.string(), format_bytes(double(written.bytes)),
                     part_of(written.exported), part_of(written.checkpoint));
}

Json json_of(const Written& written) {
  return {{"path", written.path.string()},
          {"bytes", written.bytes},
          {"exported_bytes", written.exported},
          {"checkpoint_bytes", written.checkpoint}};
}

void compress_command(const CompressOptions& options) {
  demand(options.prune || options.bits || options.rank,
         "compress: nothing to do; give --prune, --bits or --rank");
  demand(options.output.empty() || !options.prune || !options.rank,
         "compress --output: cannot combine --prune and --rank; remove one");
  const LoadedTask loaded = load_task(options);
  const auto& [checkpoint, config, task] = loaded;
  if (!options.output.empty())
    require_resumable(stored_config(checkpoint.config(), checkpoint.path().string()), config,
                      options.run);
  require_validation(loaded, options);
  const TrainedProjection projection = projection_of(*task, options.run);
  Tensor& weight = projection.fused.weight().value();
  const std::size_t batch = read_spec<TrainSpec>(config, "train").validation_batch();
  const auto validation_loss = [&, &task = task] {
    return evaluate_task(*task, Split::validation, batch)->loss();
  };
  Tensor mask;
  std::vector<Variant> variants = variants_of(options, weight, projection.inputs, mask);
  for (Variant& variant : variants) {
    weight = variant.matrix.weight;
    variant.loss = validation_loss();
  }
  weight = variants[0].matrix.weight;
  const auto ways = encoding_ways(projection.fused, projection.space, projection.times);
  std::optional<Written> written;
  if (!options.output.empty()) {
    const std::uint64_t exported = exported_bytes(task->model(), checkpoint);
    CompressedModel model(task->model(), projection, options, variants, mask);
    variants.push_back({"as written", model.matrix(), validation_loss()});
    written = write_run(options, checkpoint, config, model, variants.back().loss);
    written->exported = exported;
  }
  if (!options.json)
    return fmt::print("{}\n{}{}", text_of(variants), text_of(ways),
                      written ? "\n" + text_of(*written) : "");
  Json json = {{"step", checkpoint.state().step},
               {"variants", json_of(variants)},
               {"evaluation", json_of(ways)}};
  if (written) json.set("written", json_of(*written));
  print_line(json);
}

}  // namespace

void add_compress(const Command& program) {
  const auto [command, options] = program.command(
      "compress", "prune, quantize or factorize the encoding of a field: its loss, and a new run",
      compress_command);
  add_run(command, options.run);
  command.option("--prune", &options.prune, "fraction of entries to set to zero").between(0.0, 1.0);
  command.option("--bits", &options.bits, "bits per entry, with one scale per row").between(2, 16);
  command.option("--rank", &options.rank, "rank of the two factors").between(1, 65536);
  command.option("--output,-o", &options.output,
                 "new run with all compressions, other matrices in --bits too", "RUN");
  command.flag("--json", &options.json, "print JSON");
  add_model_changes(command, options);
}

}  // namespace bochner

#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/export/torch_module.hpp>
#include <bochner/train/run/checkpoint/model_weights.hpp>
#include <bochner/train/run/checkpoint/safetensors.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <cctype>
#include <cstring>
#include <deque>

namespace bochner {
namespace {

constexpr const char* torch_weights = "model.safetensors";

struct ExportOptions : ModelOptions {
  std::string output, torch, type = type_of_real;
};

/// Throws std::invalid_argument if a name has the extension of another format.
void require_safetensors(const std::string& output) {
  const std::string name = lower_case(output);
  for (const char* other : {".npz", ".npy", ".csv", ".json", ".pt", ".pth", ".onnx", ".h5"})
    demand(!name.ends_with(other), "{0}: export writes a safetensors file; name it {1}.safetensors",
           output, output.substr(0, output.size() - std::strlen(other)));
}

/// Writes weights and buffers as a safetensors file; returns their number.
std::size_t write_weights(const CheckpointReader& checkpoint, bool live_weights,
                          const SafetensorsTexts& texts, const std::string& file,
                          const std::string& type = type_of_real) {
  const std::string weights = prefix_of_weights(checkpoint, !live_weights);
  std::deque<Tensor> tensors;
  std::vector<TensorRecord> records;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    if (!tensor.name.starts_with(weights) && !tensor.name.starts_with(buffer_prefix)) continue;
    tensors.push_back(checkpoint.load(tensor.name));
    records.push_back(
        {tensor.name.substr(tensor.name.find('/') + 1), tensor.shape, tensors.back().data()});
  }
  const std::size_t count = records.size();
  write_output(file,
               [&](const Sink& sink) { write_safetensors(sink, std::move(records), texts, type); });
  return count;
}

void export_weights(const ExportOptions& options) {
  require_safetensors(options.output);
  const std::vector<std::string> types = safetensors_types();
  const auto type = std::ranges::find(types, lower_case(options.type), lower_case);
  demand(type != types.end(), "--dtype {}: must be one of {}", options.type, joined(types, ", "));
  const CheckpointReader checkpoint = open_run_or_file(options.run);
  const std::size_t count =
      write_weights(checkpoint, options.live_weights, texts_of(checkpoint), options.output, *type);
  if (options.output != "-")
    fmt::print("{}   {} of step {}\n", printable(options.output), format_number_of(count, "tensor"),
               checkpoint.state().step);
}

/// Returns the folder of --torch: missing or empty, with a name that Python can import.
Path torch_folder(const std::string& name) {
  const Path folder = Path(name).filename().empty() ? Path(name).parent_path() : Path(name);
  const std::string package = folder.filename().string();
  const bool is_word = !package.empty() && !std::isdigit(package[0]) &&
                       std::ranges::all_of(package, [](unsigned char c) {
                         return c < 128 && (std::isalnum(c) || c == '_');
                       });
  demand(is_word, "export --torch {}: not a Python package name; use letters, digits and _", name);
  std::error_code error;
  demand(!std::filesystem::exists(folder, error) || std::filesystem::is_empty(folder, error),
         "export --torch {}: already exists; remove it or choose another name", name);
  return folder;
}

void export_torch(const ExportOptions& options) {
  const Path folder = torch_folder(options.torch);
  const LoadedRun run = load_run(options.run, options.sets);
  const auto& [checkpoint, config] = run;
  const auto learner = load_learner(run, options);
  const std::vector<TorchSource> sources = torch_sources_of(config);
  SafetensorsTexts texts = texts_of(checkpoint);
  texts.emplace_back("sizes", learner->sizes().line());
  texts.emplace_back("keys", print_config(config, Printed::all));  // the sources read any key
  PosixStorage storage;
  make_directories(storage, folder);
  write_weights(checkpoint, options.live_weights, texts, (folder / torch_weights).string());
  for (const TorchSource& source : sources)
    commit_file(storage, folder / fmt::format("{}.py", source.name), std::string(source.text));
  if (has_words(config)) commit_file(storage, folder / tokenizer_name, tokenizer_file(config));
  const std::string words =
      fmt::format("{}: step {} of {}", learner->describe(), checkpoint.state().step, options.run);
  commit_file(storage, folder / "__init__.py", torch_package(sources, words));
  fmt::print("{}   {} and the weights of step {}:  python -c \"import {}; model = {}.load()\"\n",
             folder.string(), format_number_of(sources.size(), "source"), checkpoint.state().step,
             folder.filename().string(), folder.filename().string());
}

void export_command(const ExportOptions& options) {
  demand(
      options.output.empty() != options.torch.empty(),
      "export: give --output FILE for the weights or --torch DIR for a PyTorch module with them");
  demand(options.torch.empty() || lower_case(options.type) == lower_case(type_of_real),
         "export --dtype requires --output: a PyTorch module has the type of the weights");
  demand(!options.torch.empty() || options.sets.empty(),
         "export --set requires --torch: weights alone are exported unchanged");
  options.torch.empty() ? export_weights(options) : export_torch(options);
}

struct ImportOptions {
  std::string source, run, config;
  std::vector<std::string> sets;
  CommandLine* line = nullptr;
};

std::uint64_t count_in(const Safetensors& weights, const std::string& file, const char* key) {
  constexpr std::uint64_t most = 1'000'000'000'000'000;  // that of a period
  const std::string text = weights.text(key);
  const auto count = text.empty() ? std::optional<std::size_t>(0) : parse_count(text);
  if (!count || *count > most)
    throw DataError(file, ": ", key, " = ", excerpt(text), " must be a number from 0 to ", most);
  return *count;
}

/// Copies all weights into the model. Throws DataError that lists what does not fit.
void take_weights(const Safetensors& weights, const std::string& file, Module& model) {
  std::vector<std::string> problems;
  std::size_t taken = 0;
  const auto take = [&](const std::string& name, Tensor& tensor) {
    const std::string problem = weights.copy_into(name, tensor);
    problem.empty() ? void(++taken) : problems.push_back(problem);
    if (!all_finite(tensor.data(), tensor.size()))
      throw DataError(file, ": ", name,
                      " holds NaN or infinity; the model could not train from it");
  };
  for (const NamedParameter& named : parameters_of(model))
    take(named.name, named.parameter->value());
  for (const NamedTensor& named : buffers_of(model)) take(named.name, *named.tensor);
  if (problems.empty() && taken < weights.size())
    problems.push_back(fmt::format("{} of it do not belong to the model",
                                   format_number_of(weights.size() - taken, "tensor")));
  if (!problems.empty())
    throw DataError(file, ": weights do not fit the model of its config: ", problems[0],
                    problems.size() > 1 ? fmt::format(" and {} more", problems.size() - 1) : "");
}

/// Makes a learner from the facts in the file. Throws DataError if they are missing or damaged.
std::unique_ptr<Learner> learner_in(const Safetensors& weights, const std::string& file,
                                    const Config& config) {
  const std::string text = weights.text("facts");
  if (text.empty() && config.text("data.kind") == "bytes") return make_learner(config, {});
  const auto facts = from_hex(text);
  if (!facts || facts->empty())
    throw DataError(file,
                    ": holds no facts of the training data; bochner export "
                    "writes them with the weights");
  try {
    return make_learner(config, {*facts});
  } catch (const DataError& error) {
    throw DataError(file, ": ", error.what());
  }
}

/// Reads the config in the file. Throws DataError if it is missing or invalid.
Config config_in(const Safetensors& weights, const std::string& file) {
  const std::string text = weights.text("config");
  if (text.empty())
    throw DataError(file,
                    ": holds no config; give the one of the model with --config, or use a "
                    "file of bochner export");
  try {
    return stored_config(text, "the config in it");
  } catch (const ConfigError& error) {
    throw DataError(file, ": ", error.what());
  }
}

/// Makes a run from weights that `export` or another program wrote; optimizer moments start at 0.
void import_command(const ImportOptions& options) {
  const Path source = std::filesystem::is_directory(options.source)
                          ? Path(options.source) / torch_weights
                          : Path(options.source);
  const Input input(source, std::uint64_t(1) << 40);
  const Safetensors weights(input.bytes(), input.name());
  demand(options.config.empty() || weights.text("config").empty(),
         "--config {}: {} holds a config; change it with --set", options.config, input.name());
  Config stored =
      options.config.empty() ? config_in(weights, input.name()) : read_config(options.config, {});
  if (std::filesystem::exists(source.parent_path() / tokenizer_name))
    stored = with_own_tokenizer(stored, source.parent_path());
  const Config config = with_sets(stored, options.sets);
  require_same_import(stored, config, input.name());
  PosixStorage storage;
  RunDirectory::require_fresh(storage, options.run);
  const auto learner = learner_in(weights, input.name(), config);
  take_weights(weights, input.name(), learner->model());
  const ImportedProgress progress{.step = count_in(weights, input.name(), "step"),
                                  .tokens = count_in(weights, input.name(), "tokens"),
                                  .examples = count_in(weights, input.name(), "examples")};
  write_imported_run(
      {storage, options.run, options.line->words()[0] + std::string(" import ") + input.name()},
      config, input.name(), *learner, progress);
  fmt::print("{}   {} of {} at step {}\n", printable(options.run),
             format_number_of(weights.size(), "tensor"), printable(input.name()), progress.step);
}

}  // namespace

void add_export(const Command& program) {
  const auto [command, options] = program.command(
      "export", "export weights as a safetensors file, or a model as a PyTorch module",
      export_command);
  add_run(command, options.run, "RUN, RUN@best, RUN@STEP or a checkpoint file");
  command.option("--output,-o", &options.output, "file to write; - for standard output", "FILE");
  command.option("--dtype", &options.type, "float type in the file: F16, BF16, F32 or F64", "TYPE")
      .shows_default();
  command.option("--torch", &options.torch,
                 "folder to write: Python sources of the model and its weights", "DIR");
  add_model_changes(command, options);
}

void add_import(const Command& program) {
  const auto [command, options] =
      program.command("import", "make a run from exported weights", import_command);
  options.line = &command.line();
  command
      .option("source", &options.source,
              "output of export: a safetensors file, or the DIR of --torch", "FILE")
      .required();
  command.option("--run", &options.run, "directory of the run", "DIR").required();
  command.option("--config", &options.config,
                 "config of the model, for tensors that write_tensors() or another program wrote",
                 "FILE");
  add_sets(command, options.sets);
}

}  // namespace bochner

#include <bochner/train/run/imported_run.hpp>
#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>

namespace bochner {
namespace {

std::vector<TensorRecord> records_of(Module& model) {
  std::vector<TensorRecord> records;
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    records.push_back({name, tensor.shape(), tensor.data()});
  };
  for (const NamedParameter& named : parameters_of(model))
    add(model_prefix + named.name, named.parameter->value());
  for (const NamedTensor& named : buffers_of(model)) add(buffer_prefix + named.name, *named.tensor);
  return records;
}

}  // namespace

void write_imported_run(const SessionContext& context, const Config& config,
                        const std::string& source, Learner& learner,
                        const ImportedProgress& progress) {
  TrainerState state;
  state.step = progress.step;
  state.tokens = progress.tokens;
  state.examples = progress.examples;
  state.seed = config.count("train.seed");
  state.numerics = numerics_fingerprint();
  RunDirectory run =
      RunDirectory::create(context.storage, context.directory, print_config(config),
                           run_metadata(config, context.command, source), tokenizer_file(config));
  run.save({print_config(config), records_of(learner.model()), state, learner.facts()});
}

}  // namespace bochner

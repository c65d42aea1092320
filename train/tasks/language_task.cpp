#include <bochner/data/byte_corpus.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/language_task.hpp>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::unique_ptr<TokenSource> open_windows(const Config& config) {
  const auto data = read_spec<DataSpec>(config, "data");
  ByteCorpus corpus(expand_files(data.files, std::filesystem::current_path()));
  return std::make_unique<ByteWindows>(std::move(corpus), data.length, data.validation,
                                       config.count("train.seed"));
}

}  // namespace

LanguageModelSpec language_model_spec(const Config& config) {
  return trunk_spec(config, config.count("data.length"));
}

std::unique_ptr<LanguageModel> make_language_model(const Config& config) {
  auto model = std::make_unique<LanguageModel>(language_model_spec(config));
  initialize(*model, config.count("train.seed"));
  return model;
}

LanguageTask::LanguageTask(const Config& config) : LanguageTask(config, open_windows(config)) {}

LanguageTask::LanguageTask(const Config& config, std::unique_ptr<TokenSource> data)
    : spec_(language_model_spec(config)),
      data_(std::move(data)),
      model_(make_language_model(config)) {}

Var LanguageTask::loss(Tape& tape, const Examples& examples) {
  const Batch batch = data_->batch(examples);
  return model_->loss(tape, batch.inputs, batch.targets);
}

Evaluation LanguageTask::evaluate(Tape& tape, const Examples& examples) {
  const Batch batch = data_->batch(examples);
  const Var loss = model_->loss(tape, batch.inputs, batch.targets);
  const std::uint64_t tokens = batch.targets.values.size();
  const double nats = double(loss.value().data()[0]) * double(tokens);
  return {nats, tokens, "nats", {{"bits_per_token", "bits/byte", nats / std::numbers::ln2}}};
}

}  // namespace bochner::inline BOCHNER_PRECISION

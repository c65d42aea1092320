#include <fmt/format.h>

#include <bochner/data/byte_corpus.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/layers/initialize.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/language_task.hpp>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

ByteWindows open_windows(const Config& config) {
  const auto data = read_spec<DataSpec>(config, "data");
  ByteCorpus corpus(expand_files(data.files, std::filesystem::current_path()));
  return ByteWindows(std::move(corpus), data.length, data.validation, config.count("train.seed"));
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

LanguageTask::LanguageTask(const Config& config)
    : spec_(language_model_spec(config)),
      windows_(open_windows(config)),
      model_(make_language_model(config)) {}

Var LanguageTask::loss(Tape& tape, std::uint64_t first, std::size_t count) {
  const Batch batch = windows_.batch(first, count);
  return model_->loss(tape, batch.inputs, batch.targets);
}

Evaluation LanguageTask::validate(Tape& tape, std::uint64_t index, std::size_t size) {
  const Batch batch = windows_.validation_batch(index, size);
  const Var loss = model_->loss(tape, batch.inputs, batch.targets);
  const std::uint64_t tokens = batch.targets.values.size();
  const double nats = double(loss.value().data()[0]) * double(tokens);
  return {nats, tokens, "nats", {{"bits_per_token", "bits/byte", nats / std::numbers::ln2}}};
}

std::string LanguageTask::describe_data() const {
  return fmt::format("{}, {}  ·  {} to train, {} to validate",
                     format_number_of(windows_.corpus().file_count(), "file"),
                     format_bytes(double(windows_.corpus().size())),
                     format_bytes(double(windows_.train_bytes())),
                     format_bytes(double(windows_.validation_bytes())));
}

}  // namespace bochner::inline BOCHNER_PRECISION

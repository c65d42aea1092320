#include <fmt/format.h>

#include <algorithm>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/contrast/contrast_learner.hpp>
#include <bochner/train/tasks/model_spec.hpp>

namespace bochner {
namespace {

ContrastModelSpec contrast_spec(const Config& config, const ContrastFormat& format) {
  ContrastModelSpec spec;
  spec.encoder.trunk = read_spec<TrunkSpec>(config, "model");
  spec.contrast = read_spec<ContrastSpec>(config, "model.contrast");
  format.complete(spec);
  if (spec.examples == 0) spec.contrast.kind = "info_nce";  // prototypes have no parameters
  complete(spec.encoder.trunk.time.density, config);
  complete(spec.encoder.trunk, config, spec.encoder.trunk.length);
  return spec;
}

std::string words_of_tokens(const SequenceEncoderSpec& spec) {
  if (spec.values > 0)
    return fmt::format("{} tokens of {} numbers", spec.trunk.length, spec.values);
  return fmt::format("positions {}, time {}", spec.trunk.positions, describe_time(spec.trunk.time));
}

}  // namespace

ContrastLearner::ContrastLearner(const Config& config, std::unique_ptr<ContrastFormat> format)
    : format_(std::move(format)),
      model_(contrast_spec(config, *format_)),
      batch_(config.count("train.batch")) {
  initialize(model_, config.count("train.seed"));
}

std::string ContrastLearner::describe() const {
  const ContrastModelSpec& spec = model_.spec();
  std::string kind = spec.contrast.kind;
  if (model_.spec().contrast.kind == "prototypes")
    kind += fmt::format("({})", fmt::join(spec.contrast.clusters, ", "));
  return fmt::format("contrastive, {}, {}, temperature {}, {}", kind,
                     describe_stack(spec.encoder.trunk), spec.contrast.temperature,
                     words_of_tokens(spec.encoder));
}

NamedArray ContrastLearner::predict(const NamedArray& question) {
  const ContrastFormat::Asked asked = format_->read_table(model_, question);
  const std::size_t n = asked.examples.size(), D = width(), before = asked.rows.empty() ? 0 : 1;
  NamedArray result;
  result.values.resize({n, before + D});
  if (before > 0) result.columns.push_back("row");
  for (std::size_t j = 0; j < D; ++j) result.columns.push_back(fmt::format("e{}", j + 1));
  for (std::size_t i = 0; i < asked.rows.size(); ++i) result.values(i, 0) = double(asked.rows[i]);
  for (std::size_t first = 0; first < n; first += batch_) {
    const auto begin = asked.examples.begin() + std::ptrdiff_t(first);
    const std::vector<RawExample> part(begin, begin + std::ptrdiff_t(std::min(batch_, n - first)));
    Tape tape({.recording = false});
    const Var rows = model_.embed(tape, format_->encode(part));
    for (std::size_t i = 0; i < part.size(); ++i)
      std::copy_n(rows.data() + i * D, D, &result.values(first + i, before));
  }
  return result;
}

void ContrastLearner::forward_specimen(Tape& tape, std::size_t i) {
  const EncoderInput input = format_->encode({format_->specimen(i, model_)});
  model_.project(tape, model_.embed(tape, input));
}

}  // namespace bochner

#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/labels/series_inputs.hpp>
#include <bochner/train/tasks/model_spec.hpp>

namespace bochner {

void complete(SeriesModelSpec& spec, const Config& config, const LabelledSeriesFacts& facts) {
  spec.patch = read_spec<PatchSpec>(config, "model.patch");
  spec.channels = facts.channels;
  spec.length = facts.length;
  complete(spec.stack, config, spec.tokens(spec.length));
}

std::string describe_tokens(const SeriesModelSpec& spec) {
  return fmt::format("{}, positions {}, patches of {} rows, pooling {}", describe_stack(spec.stack),
                     spec.stack.positions, spec.patch.length, spec.pooling);
}

void require_positions(const SeriesModelSpec& spec, const std::vector<SeriesValues>& series) {
  if (spec.stack.positions != "learned") return;
  for (const SeriesValues one : series)
    if (const std::size_t rows = one.size() / spec.channels;
        spec.tokens(rows) > spec.tokens(spec.length))
      throw DataError("a series of ", rows,
                      " rows is longer than those whose positions are learned, of up to ",
                      spec.length, "; set model.positions = \"sinusoidal\"");
}

void require_positions(const SeriesModelSpec& spec, const LabelledSeries& data) {
  for (const Split split : {Split::train, Split::validation, Split::test})
    require_positions(spec,
                      labelled_batch(data, data.in_order(split, 0, data.examples(split))).series);
}

SeriesInputs::SeriesInputs(const Config& config)
    : augmentation_(read_spec<SeriesAugmentationKeys>(config, "data").augment),
      is_on_(augmentation_.crop > 0 || augmentation_.warp > 0 || augmentation_.scale > 0 ||
             augmentation_.noise > 0 || augmentation_.missing > 0),
      seed_(config.count("train.seed")) {}

SeriesTokens SeriesInputs::training(const SeriesModel& model, const LabelledSeriesBatch& batch,
                                    const Examples& examples) const {
  std::vector<std::vector<float>> all;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    all.push_back(model.standardized(batch.series[i]));
    if (is_on_)
      all.back() =
          augmented_series(all.back(), model.spec().channels, augmentation_,
                           {.seed = seed_, .step = examples.numbers[i].epoch}, examples.index(i));
  }
  return model.tokens(all);
}

Tensor outputs_of(SeriesModel& model, const std::vector<SeriesValues>& series) {
  constexpr std::size_t batch = 32;
  const std::size_t K = model.spec().outputs;
  Tensor all = uninitialized({series.size(), K});
  for (std::size_t first = 0; first < series.size(); first += batch) {
    const std::size_t count = std::min(batch, series.size() - first);
    const auto begin = series.begin() + std::ptrdiff_t(first);
    Tape tape({.recording = false});
    const Var part = model.forward(tape, std::vector(begin, begin + std::ptrdiff_t(count)));
    std::copy_n(part.data(), part.size(), all.data() + first * K);
  }
  return all;
}

NamedArrays arrays_of(const SeriesTokens& tokens, const Var& outputs) {
  return {{"values", array_of(tokens.values)},
          {"lengths", array_of(tokens.lengths, {tokens.lengths.size()})},
          {"shares", array_of(tokens.shares)},
          {"outputs", array_of(outputs.value())}};
}

}  // namespace bochner

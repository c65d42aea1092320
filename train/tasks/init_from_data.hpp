#pragma once
/// Initialisation of models from their training data.

#include <algorithm>
#include <bochner/data/dataset.hpp>
#include <bochner/layers/encodings/scales.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/models/token_models.hpp>

namespace bochner {

/// Returns the training examples that determine origin and unit of time.
inline Examples scale_examples(const Dataset& data) {
  constexpr std::uint64_t most = 64;
  return data.training(0, std::size_t(std::min(most, data.examples(Split::train))));
}
/// Sets origin and unit of time from training sequences, and the frequencies if they are
/// initialised from data. times: (B, T)
inline void fit_times(Module& model, TimeScale& scale, const TimeEncodingSpec& time,
                      const Times& times, std::uint64_t seed) {
  scale.fit(times);
  if (time.density.start != "none") init_time_frequencies(model, scale.scaled(times), seed);
}

/// Sets the noise distribution to the frequencies of classes among targets(Examples) of the first
/// training examples, about 16 million targets.
template <class Targets>
void count_targets(NoiseLoss& noise, const Dataset& data, std::size_t classes,
                   const Targets& targets) {
  constexpr std::uint64_t enough = 1 << 24, at_once = 1 << 16;
  const std::uint64_t per_example = std::max<std::uint64_t>(1, data.tokens_per_example()),
                      examples = std::min(data.examples(Split::train), enough / per_example + 1),
                      batch = std::max<std::uint64_t>(1, at_once / per_example);
  std::vector<double> counts(classes);
  for (std::uint64_t first = 0; first < examples; first += batch) {
    const std::size_t size = std::min(batch, examples - first);
    for (const std::int32_t target : targets(data.in_order(Split::train, first, size)).values)
      if (target >= 0) ++counts[std::size_t(target)];
  }
  noise.count(counts);
}

}  // namespace bochner

#pragma once
#include <algorithm>
#include <bochner/data/dataset.hpp>
#include <bochner/layers/models/token_models.hpp>

namespace bochner {

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

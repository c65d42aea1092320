#include <algorithm>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/data/labelled.hpp>

namespace bochner {
namespace {

template <class ExampleOf>
LabelledBatch gather(std::size_t count, std::int32_t padding, const ExampleOf& example_of) {
  std::vector<LabelledExample> examples(count);
  parallel_tasks(count, [&](std::size_t row) { examples[row] = example_of(row); });
  LabelledBatch batch;
  for (const LabelledExample& example : examples) {
    batch.lengths.push_back(example.tokens.size());
    batch.labels.values.push_back(example.label);
  }
  const std::size_t T = *std::max_element(batch.lengths.begin(), batch.lengths.end());
  batch.labels.shape = {count};
  batch.tokens = {{count, T}, std::vector<std::int32_t>(count * T, padding)};
  for (std::size_t row = 0; row < count; ++row)
    std::copy(examples[row].tokens.begin(), examples[row].tokens.end(),
              batch.tokens.values.begin() + std::ptrdiff_t(row * T));
  return batch;
}

}  // namespace

LabelledBatch LabelledSequences::batch(std::uint64_t first, std::size_t count) const {
  return gather(count, padding(), [&](std::size_t row) { return training(first + row); });
}

LabelledBatch LabelledSequences::validation_batch(std::uint64_t index, std::size_t size) const {
  return gather(examples_.validation_count(index, size), padding(),
                [&](std::size_t row) { return held_out(index * size + row); });
}

}  // namespace bochner

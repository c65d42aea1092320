#include <algorithm>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/data/labelled.hpp>

namespace bochner {

LabelledBatch LabelledSequences::batch(const Examples& examples) const {
  const std::size_t count = examples.size();
  std::vector<LabelledExample> rows(count);
  parallel_tasks(
      count, [&](std::size_t row) { rows[row] = example(examples.split, examples.index(row)); });
  LabelledBatch batch;
  for (const LabelledExample& row : rows) {
    batch.lengths.push_back(row.tokens.size());
    batch.labels.values.push_back(row.label);
  }
  const std::size_t T = std::ranges::max(batch.lengths);
  batch.labels.shape = {count};
  batch.tokens = {{count, T}, std::vector<std::int32_t>(count * T, sizes_.padding)};
  for (std::size_t row = 0; row < count; ++row)
    std::ranges::copy(rows[row].tokens, batch.tokens.values.begin() + std::ptrdiff_t(row * T));
  return batch;
}

}  // namespace bochner

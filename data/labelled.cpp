#include <algorithm>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/data/labelled.hpp>

namespace bochner {
namespace {

/// (B, T); what lies behind a sequence repeats its last time.
Times padded_times(const std::vector<LabelledExample>& rows, std::size_t T) {
  Times times(std::vector<std::size_t>{rows.size(), T});
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t t = 0; t < T; ++t)
      times(row, t) = rows[row].times[std::min(t, rows[row].times.size() - 1)];
  return times;
}

}  // namespace

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
  if (!rows.front().times.empty()) batch.times = padded_times(rows, T);
  return batch;
}

}  // namespace bochner

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/data/labelled/labelled.hpp>
#include <numeric>

namespace bochner {
namespace {

/// Returns the times of tokens (B, T), padded with the last time of each sequence.
Times padded_times(const std::vector<LabelledExample>& rows, std::size_t T) {
  Times times(std::vector<std::size_t>{rows.size(), T});
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t t = 0; t < T; ++t)
      times(row, t) = rows[row].times[std::min(t, rows[row].times.size() - 1)];
  return times;
}

/// Sorts elements by length, stably, and shuffles the resulting batches.
std::vector<std::size_t> bucketed_order(const std::vector<std::size_t>& lengths, std::size_t batch,
                                        Draws draws) {
  std::vector<std::size_t> sorted(lengths.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t(0));
  std::ranges::stable_sort(sorted, {}, [&](std::size_t i) { return lengths[i]; });
  std::vector<std::size_t> order;
  for (const std::size_t part : draws.shuffled(lengths.size() / batch))
    for (std::size_t row = 0; row < batch; ++row) order.push_back(sorted[part * batch + row]);
  return order;
}

}  // namespace

std::uint64_t LabelledSequences::in_epoch(std::uint64_t epoch, std::uint64_t place) const {
  const std::uint64_t n = examples_.train, B = buckets_.batch;
  // Positions before `head` belong to a batch that began in the previous epoch.
  const std::uint64_t head = (B - epoch * n % B) % B;
  const std::uint64_t whole = n > head ? head + (n - head) / B * B : head;
  if (buckets_.window == 0 || place < head || place >= whole)
    return Dataset::in_epoch(epoch, place);
  const std::uint64_t size = B * buckets_.window, begin = head + (place - head) / size * size;
  if (window_.examples.empty() || window_.epoch != epoch || window_.begin != begin)
    window_ = sorted_window(epoch, begin, std::min(whole, begin + size));
  return window_.examples[place - begin];
}

LabelledSequences::Window LabelledSequences::sorted_window(std::uint64_t epoch, std::uint64_t begin,
                                                           std::uint64_t end) const {
  std::vector<std::uint64_t> all(end - begin);
  std::vector<std::size_t> lengths(all.size());
  parallel_tasks(all.size(), [&](std::size_t i) {
    all[i] = Dataset::in_epoch(epoch, begin + i);
    lengths[i] = example(Split::train, all[i]).tokens.size();
  });
  const RandomFunction random{examples_.seed, Purpose::data_order,
                              stream_of("length buckets") + epoch * examples_.train + begin};
  Window window{epoch, begin};
  for (const std::size_t i : bucketed_order(lengths, buckets_.batch, Draws(random)))
    window.examples.push_back(all[i]);
  return window;
}

LabelledBatch LabelledSequences::batch(const Examples& examples) const {
  const std::size_t count = examples.size();
  std::vector<LabelledExample> rows(count);
  parallel_tasks(
      count, [&](std::size_t row) { rows[row] = example(examples.split, examples.index(row)); });
  return batch_of(rows, sizes_.padding);
}

LabelledBatch batch_of(const std::vector<LabelledExample>& rows, std::int32_t padding) {
  const std::size_t count = rows.size();
  LabelledBatch batch;
  for (const LabelledExample& row : rows) {
    batch.lengths.push_back(row.tokens.size());
    batch.labels.values.push_back(row.label);
  }
  const std::size_t T = std::ranges::max(batch.lengths);
  batch.labels.shape = {count};
  batch.tokens = {{count, T}, std::vector<std::int32_t>(count * T, padding)};
  for (std::size_t row = 0; row < count; ++row)
    std::ranges::copy(rows[row].tokens, batch.tokens.values.begin() + std::ptrdiff_t(row * T));
  if (!rows.front().times.empty()) batch.times = padded_times(rows, T);
  return batch;
}

}  // namespace bochner

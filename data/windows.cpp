#include <algorithm>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/sampler.hpp>
#include <bochner/data/split.hpp>
#include <bochner/data/windows.hpp>
#include <string>
#include <utility>

namespace bochner {
namespace {

void require_one_window(const char* part, std::uint64_t bytes, std::size_t length,
                        const char* remedy) {
  if (bytes > length) return;
  throw DataError("data.length = " + std::to_string(length) + " needs at least " +
                  std::to_string(length + 1) + " " + part + " bytes, there are " +
                  std::to_string(bytes) + "; choose a smaller data.length or " + remedy);
}

}  // namespace

ByteWindows::ByteWindows(ByteCorpus corpus, std::size_t length, double validation,
                         std::uint64_t seed)
    : corpus_(std::move(corpus)), length_(length), seed_(seed) {
  require(length >= 1, "byte_windows", "data.length = 0: must be at least 1");
  train_bytes_ = corpus_.size() - held_out(corpus_.size(), validation);
  require_one_window("training", train_bytes_, length, "add files");
  if (validation > 0)
    require_one_window("validation", validation_bytes(), length, "a larger data.validation");
  const std::uint64_t fitting = (train_bytes_ - 1) / length;
  examples_per_epoch_ = std::max<std::uint64_t>(fitting - 1, 1);
}

std::uint64_t ByteWindows::train_begin(std::uint64_t example) const {
  const std::uint64_t epoch = example / examples_per_epoch_;
  const std::uint64_t left_over = train_bytes_ - 1 - examples_per_epoch_ * length_;
  const std::uint64_t offset =
      epoch_offset(seed_, epoch, std::min<std::uint64_t>(length_, left_over + 1));
  const std::uint64_t window =
      permuted_index(seed_, epoch, example % examples_per_epoch_, examples_per_epoch_);
  return offset + window * length_;
}

template <class Begin>
Batch ByteWindows::gather_windows(std::size_t count, const Begin& begin) const {
  const Shape shape = {count, length_};
  Batch batch{{shape, std::vector<std::int32_t>(count * length_)},
              {shape, std::vector<std::int32_t>(count * length_)}};
  std::vector<std::uint8_t> window(length_ + 1);
  for (std::size_t row = 0; row < count; ++row) {
    corpus_.read(begin(row), window);
    std::copy(window.begin(), window.end() - 1, batch.inputs.values.begin() + row * length_);
    std::copy(window.begin() + 1, window.end(), batch.targets.values.begin() + row * length_);
  }
  return batch;
}

Batch ByteWindows::batch(std::uint64_t first_example, std::size_t count) const {
  return gather_windows(count, [&](std::size_t row) { return train_begin(first_example + row); });
}

std::uint64_t ByteWindows::validation_batches(std::size_t size) const {
  require(size >= 1, "byte_windows", "a batch needs at least one example");
  return (validation_examples() + size - 1) / size;
}

Batch ByteWindows::validation_batch(std::uint64_t index, std::size_t size) const {
  require(index < validation_batches(size), "byte_windows", "validation batch ", index, " of ",
          validation_batches(size), " does not exist");
  const std::uint64_t first = index * size;
  const auto count = std::size_t(std::min<std::uint64_t>(size, validation_examples() - first));
  return gather_windows(count,
                        [&](std::size_t row) { return train_bytes_ + (first + row) * length_; });
}

}  // namespace bochner

#pragma once
/// Batches of any dataset.

#include <bochner/data/dataset.hpp>

namespace bochner {

/// Returns a batch of training examples first, ..., first + count - 1, counted across epochs.
template <class Source>
auto training_batch(const Source& source, std::uint64_t first, std::size_t count) {
  return source.batch(source.training(first, count));
}

template <class Source>
auto batch_in_order(const Source& source, Split split, std::uint64_t first, std::size_t count) {
  return source.batch(source.in_order(split, first, count));
}

/// Returns batch `index` of `size` validation examples.
template <class Source>
auto held_out_batch(const Source& source, std::uint64_t index, std::size_t size) {
  return source.batch(source.part(Split::validation, index, size));
}

}  // namespace bochner

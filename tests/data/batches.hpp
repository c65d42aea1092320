#pragma once
/// Batches of any source of examples.

#include <bochner/data/dataset.hpp>

namespace bochner {

/// Training examples first, ..., first + count - 1, counted on from epoch to epoch.
template <class Source>
auto training_batch(const Source& source, std::uint64_t first, std::size_t count) {
  return source.batch(source.training(first, count));
}

template <class Source>
auto batch_in_order(const Source& source, Split split, std::uint64_t first, std::size_t count) {
  return source.batch(source.in_order(split, first, count));
}

/// Batch `index` of those of `size` that hold all validation examples.
template <class Source>
auto held_out_batch(const Source& source, std::uint64_t index, std::size_t size) {
  return source.batch(source.part(Split::validation, index, size));
}

}  // namespace bochner

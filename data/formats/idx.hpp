#pragma once

#include <bochner/data/formats/stored_array.hpp>

namespace bochner {

/// Returns whether the bytes begin like an IDX file (LeCun's format of MNIST): two zeros, a type
/// and a number of axes.
bool is_idx(ByteSpan front);
/// Parses the header from the first bytes. Throws DataError.
StoredLayout parse_idx_header(ByteSpan front, const std::string& name);
/// Returns the array of an IDX file; the bytes must outlive it. Throws DataError unless they hold
/// exactly the elements of the header.
StoredArray parse_idx(ByteSpan file, const std::string& name);

}  // namespace bochner

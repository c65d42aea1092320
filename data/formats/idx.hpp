#pragma once

#include <bochner/data/formats/stored_array.hpp>

namespace bochner {

/// Whether the bytes begin as a file of the IDX format does (LeCun's for MNIST): two zeros, a type
/// and a number of axes.
bool is_idx(ByteSpan front);
/// What the header of an IDX file claims, from its first bytes. Throws DataError.
StoredLayout parse_idx_header(ByteSpan front, const std::string& name);
/// The array of an IDX file; the bytes must outlive it. Throws DataError unless they hold exactly
/// the elements that the header claims.
StoredArray parse_idx(ByteSpan file, const std::string& name);

}  // namespace bochner

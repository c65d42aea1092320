#pragma once
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the channels left for content in tokens of D channels: all unless the encoding is
/// concatenated. Throws if a concatenated encoding is also to be added in every block.
std::size_t content_width(const SpaceTimeEncoding* encoding, std::size_t D, bool every_block);

/// Tokens for the first block, and an encoding to add before each block.
struct PlacedTokens {
  Var x, each;
};
/// Adds an encoding to tokens, concatenates it, or returns it for every block. x (B, T, D) or (B,
/// T, D - E), code (T, E) or (B, T, E)
PlacedTokens add_encoding(const SpaceTimeEncoding& encoding, bool every_block, const Var& x,
                          const Var& code);

}  // namespace bochner::inline BOCHNER_PRECISION

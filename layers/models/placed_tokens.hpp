#pragma once
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Channels that an encoding leaves to the content of tokens of D channels: all, unless it stands
/// beside the content. Throws where that is to be in front of every block too.
std::size_t content_width(const SpaceTimeEncoding* encoding, std::size_t D, bool every_block);

/// Tokens and their encoding: what enters the first block, and what is added in front of each.
struct PlacedTokens {
  Var x, each;
};
/// The encoding is added to the content, stands beside it, or waits for every block. x (B, T, D) or
/// (B, T, D - E), code (T, E) or (B, T, E)
PlacedTokens placed(const SpaceTimeEncoding& encoding, bool every_block, const Var& x,
                    const Var& code);

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/models/placed_tokens.hpp>

namespace bochner::inline BOCHNER_PRECISION {

std::size_t content_width(const SpaceTimeEncoding* encoding, std::size_t D, bool every_block) {
  if (!encoding || !encoding->is_concatenated()) return D;
  require(!every_block, "placed_tokens",
          "a concatenated encoding is in every block already; set every_block = false");
  return D - encoding->width();
}

PlacedTokens add_encoding(const SpaceTimeEncoding& encoding, bool every_block, const Var& x,
                          const Var& code) {
  if (encoding.is_concatenated())
    return {concat({x, broadcast_to(code, {x.dim(0), x.dim(1), encoding.width()})}, 2), {}};
  if (every_block) return {x, code};
  return {x + code, {}};
}

}  // namespace bochner::inline BOCHNER_PRECISION

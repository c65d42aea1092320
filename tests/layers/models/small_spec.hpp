#pragma once
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the spec of a model of places and times, with few frequencies and two small softmax
/// blocks.
template <class Spec>
Spec with_small_parts(Spec spec, const std::string& encoding) {
  spec.encoding.kind = encoding;
  spec.encoding.space.frequencies = 2;
  spec.encoding.time = {.dimensions = 1, .frequencies = 1, .stream = 1};
  spec.stack.blocks = 2;
  spec.stack.block.width = 8;
  spec.stack.block.expansion = 1;
  spec.stack.block.mixer.kind = "softmax";
  spec.stack.block.mixer.heads = 2;
  return spec;
}

}  // namespace bochner::inline BOCHNER_PRECISION

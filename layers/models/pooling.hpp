#pragma once
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Throws std::invalid_argument for pooling by a first token that sees no others.
inline void require_seen_class_token(const std::string& pooling, const StackSpec& stack,
                                     const char* model) {
  require(pooling != "cls" || stack.block.mixer.directions != 1, model,
          "pooling = \"cls\" reads the first token, which sees nothing if directions = 1; set "
          "pooling = \"mean\"");
}

}  // namespace bochner::inline BOCHNER_PRECISION

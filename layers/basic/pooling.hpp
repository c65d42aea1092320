#pragma once
#include <bochner/autodiff/tape.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// One vector for each sequence. "mean": over the first lengths[b] tokens, over all T without
/// lengths; what lies behind changes neither value nor gradient. "cls": the first token's.
/// (B, T, D), lengths (B) -> (B, D)
Var pool(const std::string& kind, const Var& x, const std::vector<std::size_t>& lengths = {});

}  // namespace bochner::inline BOCHNER_PRECISION

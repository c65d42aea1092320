#pragma once
#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns tokens below 7, a function of the stream. -> (B, T)
inline Indices tokens(std::size_t B, std::size_t T, std::uint64_t stream) {
  const RandomFunction random{1, Purpose::test, stream};
  Indices indices{{B, T}, {}};
  for (std::size_t i = 0; i < B * T; ++i)
    indices.values.push_back(std::int32_t(random.integer(i, 7)));
  return indices;
}

}  // namespace bochner::inline BOCHNER_PRECISION

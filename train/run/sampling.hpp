#pragma once
/// From logits to one token.

#include <bochner/autodiff/tensor.hpp>
#include <cstdint>

namespace bochner {

struct SamplingOptions {
  double temperature = 1;  ///< 0 takes the most probable token
  std::size_t top_k = 0;   ///< only the k most probable tokens; 0 for all
  double top_p = 1;        ///< only the most probable tokens that together reach this probability
  bool operator==(const SamplingOptions&) const = default;
};

/// Throws std::invalid_argument when an option is out of its range.
void check_sampling(const SamplingOptions& options);

/// The token at quantile u in (0, 1) of softmax(logits / temperature) after both cuts, most
/// probable first; equal logits in the order of the tokens. logits (V)
std::int32_t sample_token(const Tensor& logits, const SamplingOptions& options, double u);

}  // namespace bochner

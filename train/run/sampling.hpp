#pragma once
/// Sampling of a token from logits.

#include <bochner/autodiff/tensor.hpp>
#include <cstdint>

namespace bochner {

struct SamplingOptions {
  double temperature = 1;  ///< 0 takes the most probable token
  std::size_t top_k = 0;   ///< only the k most probable tokens; 0 for all
  double top_p = 1;        ///< only the most probable tokens that together reach this probability
  bool operator==(const SamplingOptions&) const = default;
};

/// Throws std::invalid_argument if an option is out of range.
void check_sampling(const SamplingOptions& options);

/// Returns the token at quantile u in (0, 1) of softmax(logits / temperature) after both cuts, most
/// probable first; ties in token order. logits (V)
std::int32_t sample_token(const Tensor& logits, const SamplingOptions& options, double u);

}  // namespace bochner

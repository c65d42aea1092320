#pragma once
#include <bochner/autodiff/tensor.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A part of a mixer that answers to its inputs by a convolution in each channel: what reports show
/// of filters and state spaces.
class ImpulseResponse {
 public:
  virtual ~ImpulseResponse() = default;
  /// What a channel answers to a one, from lag 0 on; zero behind the last row. -> (at most count,
  /// channels)
  virtual Tensor response(std::size_t count) = 0;
  /// Draws of the density whose Fourier transform the response is but for its decay, in radians per
  /// token. -> (channels, m), or (0) where there is no density
  virtual Tensor drawn_frequencies() { return zeros({0}); }
};

}  // namespace bochner::inline BOCHNER_PRECISION

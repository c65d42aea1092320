#pragma once
#include <bochner/autodiff/tensor.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

/// Interface of mixer parts that convolve each channel: filters and state spaces. Reports read it.
class ImpulseResponse {
 public:
  virtual ~ImpulseResponse() = default;
  /// Returns up to `count` lags of the impulse response. -> (<= count, channels)
  virtual Tensor response(std::size_t count) = 0;
  /// Returns draws of the density whose Fourier transform, times a decay, is the response, in
  /// radians per token. -> (channels, m), or (0) without a density
  virtual Tensor drawn_frequencies() { return zeros({0}); }
  /// Returns the density of |frequency| of a channel, which the draws follow, at radians per token;
  /// empty without a closed form.
  virtual std::function<double(double)> frequency_density(std::size_t) { return {}; }
};

}  // namespace bochner::inline BOCHNER_PRECISION

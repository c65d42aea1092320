#pragma once
/// Responses of filters to a signal at a dilation, the inner loop of filter banks.

#include <algorithm>
#include <bochner/autodiff/real.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

/// Filters that compete, and the rows that are computed at once.
inline constexpr std::size_t filters_of_group = 8, response_lanes = 32;

/// Computes `width` rows, from t on, of the responses (8, stride) of filters (8, taps) to a signal
/// with zeros around it: responses[f, t] = sum_j filters[f, j] signal[t + j dilation].
template <std::size_t width>
void respond_at(const real* signal, std::size_t dilation, const real* filters, std::size_t taps,
                std::size_t stride, std::size_t t, real* responses) {
  constexpr std::size_t together = 4;  // filters whose sums stay in registers
  for (std::size_t f = 0; f < filters_of_group; f += together) {
    real sums[together][width] = {};
    for (std::size_t j = 0; j < taps; ++j) {
      const real* x = signal + t + j * dilation;
      for (std::size_t k = 0; k < together; ++k) {
        const real w = filters[(f + k) * taps + j];
        for (std::size_t i = 0; i < width; ++i) sums[k][i] += w * x[i];
      }
    }
    for (std::size_t k = 0; k < together; ++k)
      std::copy_n(sums[k], width, responses + (f + k) * stride + t);
  }
}

/// Calls chunk.operator()<width>(t) for all rows: 32 at a time, then 8, 4 and 1.
template <class Chunk>
void for_response_chunks(std::size_t rows, const Chunk& chunk) {
  std::size_t t = 0;
  for (; t + response_lanes <= rows; t += response_lanes)
    chunk.template operator()<response_lanes>(t);
  for (; t + 8 <= rows; t += 8) chunk.template operator()<8>(t);
  for (; t + 4 <= rows; t += 4) chunk.template operator()<4>(t);
  for (; t < rows; ++t) chunk.template operator()<1>(t);
}

/// Computes all rows of respond_at().
inline void respond(const real* signal, std::size_t dilation, const real* filters, std::size_t taps,
                    std::size_t rows, real* responses) {
  for_response_chunks(rows, [&]<std::size_t width>(std::size_t t) {
    respond_at<width>(signal, dilation, filters, taps, rows, t, responses);
  });
}

/// Sets a signal to the weighted sum of channels (C, rows), with (taps - 1) dilation zeros around
/// it, of which taps / 2 dilation are before it. Skips channels of weight 0.
inline void mix_channels(const real* channels, std::size_t C, std::size_t rows, const real* weights,
                         std::size_t taps, std::size_t dilation, real* signal) {
  std::fill_n(signal, rows + (taps - 1) * dilation, real(0));
  real* inner = signal + taps / 2 * dilation;
  for (std::size_t c = 0; c < C; ++c) {
    const real weight = weights[c], *x = channels + c * rows;
    if (weight == 0) continue;
    for (std::size_t t = 0; t < rows; ++t) inner[t] += weight * x[t];
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION

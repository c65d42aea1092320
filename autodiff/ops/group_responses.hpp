#pragma once
/// Responses of filters to a signal at a dilation, the inner loop of filter banks.

#include <algorithm>
#include <bochner/autodiff/compute/lanes.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

/// Filters that compete, and the rows that are computed at once.
inline constexpr std::size_t filters_of_group = 8, response_lanes = 32;

/// Computes the responses of four filters (4, taps) to `vectors` native vectors of rows in
/// registers.
template <std::size_t vectors>
void respond_in_registers(const real* signal, std::size_t dilation, const real* filters,
                          std::size_t taps, std::size_t stride, real* responses) {
  constexpr std::size_t together = 4;
  NativeLanes sums[together][vectors] = {};
  for (std::size_t j = 0; j < taps; ++j) {
    const real* x = signal + j * dilation;
#pragma GCC unroll 4
    for (std::size_t k = 0; k < together; ++k) {
      const NativeLanes w = all_lanes(filters[k * taps + j]);
#pragma GCC unroll 2
      for (std::size_t v = 0; v < vectors; ++v)
        sums[k][v] = fused_lanes(w, lanes_at(x + v * native_lane_count), sums[k][v]);
    }
  }
#pragma GCC unroll 4
  for (std::size_t k = 0; k < together; ++k)
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v)
      lanes_at(responses + k * stride + v * native_lane_count) = sums[k][v];
}

/// Computes `width` rows, from t on, of the responses (8, stride) of filters (8, taps) to a signal
/// with zeros around it: responses[f, t] = sum_j filters[f, j] signal[t + j dilation].
template <std::size_t width>
void respond_at(const real* signal, std::size_t dilation, const real* filters, std::size_t taps,
                std::size_t stride, std::size_t t, real* responses) {
  constexpr std::size_t together = 4, block = 2 * native_lane_count;
  if constexpr (width % block == 0) {
    for (std::size_t f = 0; f < filters_of_group; f += together)
      for (std::size_t i = t; i < t + width; i += block)
        respond_in_registers<2>(signal + i, dilation, filters + f * taps, taps, stride,
                                responses + f * stride + i);
    return;
  }
  for (std::size_t f = 0; f < filters_of_group; ++f) {
    real sums[width] = {};
    for (std::size_t j = 0; j < taps; ++j)
      for (std::size_t i = 0; i < width; ++i)
        sums[i] = fused_number(filters[f * taps + j], signal[t + j * dilation + i], sums[i]);
    std::copy_n(sums, width, responses + f * stride + t);
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

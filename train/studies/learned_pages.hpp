#pragma once
/// What a model has learned, in pictures.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/instruments/attention.hpp>

namespace bochner {

constexpr std::size_t most_heads = 4;  ///< drawn, of each layer

/// Spectrum and k(delta) of each layer with a density, at the start and now.
void add_spectra(Page& page, const std::vector<AttentionLayer>& start,
                 const std::vector<AttentionLayer>& now);

/// K(lag) of each encoding of time, at the start and now.
void add_time_kernels(Page& page, Module& start, Module& now);

/// How much lambda(x) of each layer that has one weighs its features, and how it depends on x.
void add_lambda(Page& page, const std::vector<AttentionLayer>& layers,
                const std::vector<AttentionSample>& samples);

/// Time kernels, weights by lag, and maps of attention weights, exact beside estimated.
void add_attention(Page& page, const std::vector<AttentionLayer>& layers,
                   const std::vector<AttentionSample>& start,
                   const std::vector<AttentionSample>& now);

}  // namespace bochner

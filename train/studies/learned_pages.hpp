#pragma once
/// Charts of what a model has learned.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/instruments/attention.hpp>

namespace bochner {

constexpr std::size_t most_heads = 4;  ///< drawn per layer

/// Adds spectrum and k(delta) of each layer with a density, at the start and now.
void add_spectra(Page& page, const std::vector<AttentionLayer>& start,
                 const std::vector<AttentionLayer>& now);

/// Adds K(lag) of each time encoding, at the start and now.
void add_time_kernels(Page& page, Module& start, Module& now);

/// Adds the feature weights lambda(x) of each layer that has them, and their dependence on x.
void add_lambda(Page& page, const std::vector<AttentionLayer>& layers,
                const std::vector<AttentionSample>& samples);

/// Adds time kernels, weights by lag, and maps of attention weights, exact and estimated.
void add_attention(Page& page, const std::vector<AttentionLayer>& layers,
                   const std::vector<AttentionSample>& start,
                   const std::vector<AttentionSample>& now);

}  // namespace bochner

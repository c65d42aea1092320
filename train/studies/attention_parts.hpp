#pragma once
/// Where attention looks, by stage of the sequence and by region of the past, and which frequencies
/// make it.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/instruments/attention.hpp>

namespace bochner {

/// Mean weight that the queries of a stage give to the keys of a region. Stages are quarters of the
/// sequence. Regions are by lag: the token itself, the lags 1 to 3, 4 to 15, 16 to 63, and more; at
/// bidirectional attention keys that come later count like earlier ones.
constexpr std::size_t attention_stages = 4, attention_regions = 5;
std::vector<std::string> region_names();
/// (T, T) -> (stages, regions)
Tensor weight_by_region(const Tensor& weights);

/// What each frequency contributes to the weights of a head, of sum 1: the mean over queries of its
/// share of the sum of their kernels. Features are those of queries and keys (T, m n), feature f
/// being of frequency f mod m; `factors` (T, T) is the time kernel. -> m
std::vector<double> frequency_shares(const Tensor& q, const Tensor& k, const Tensor& factors,
                                     std::size_t m);

/// Both as tables and charts of each layer.
void add_attention_parts(Page& page, const std::vector<AttentionLayer>& layers,
                         const std::vector<AttentionSample>& samples);

}  // namespace bochner

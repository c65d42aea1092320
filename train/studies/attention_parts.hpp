#pragma once
/// Attention by stage of the sequence and region of the past, and by frequency.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/instruments/attention.hpp>

namespace bochner {

/// Numbers of stages, the quarters of a sequence, and of regions: the token itself, the lags 1 to
/// 3, 4 to 15, 16 to 63, and more; bidirectional attention counts later keys like earlier ones.
constexpr std::size_t attention_stages = 4, attention_regions = 5;
std::vector<std::string> region_names();
/// Returns the mean weight of each region from each stage. (T, T) -> (stages, regions)
Tensor weight_by_region(const Tensor& weights);

/// Returns the share of each frequency in the weights of a head, of sum 1: the mean over queries of
/// its share of the sum of their kernels. Features are those of queries and keys (T, m n), where
/// feature f belongs to frequency f mod m; `factors` (T, T) is the time kernel. -> m
std::vector<double> frequency_shares(const Tensor& q, const Tensor& k, const Tensor& factors,
                                     std::size_t m);

/// Adds both as tables and charts of each layer.
void add_attention_parts(Page& page, const std::vector<AttentionLayer>& layers,
                         const std::vector<AttentionSample>& samples);

}  // namespace bochner

#include <bochner/autodiff/compute/prefix_sums.hpp>
#include <bochner/autodiff/ops/recurrence/long_convolution.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns the edges of the reversed kernel: lag l becomes -l, and the last piece the first.
LagEdges mirrored_edges(const LagEdges& edges) {
  LagEdges mirrored(edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) mirrored[e] = 1 - edges[edges.size() - 1 - e];
  return mirrored;
}

Tensor mirrored_rows(const Tensor& k) {
  const std::size_t S = k.shape()[0], D = k.shape()[1];
  Tensor rows = uninitialized(k.shape());
  for (std::size_t s = 0; s < S; ++s)
    std::copy_n(k.data() + (S - 1 - s) * D, D, rows.data() + s * D);
  return rows;
}

}  // namespace

std::vector<std::int64_t> dyadic_edges(std::size_t lags, bool both_ways) {
  require(lags >= 1 && lags <= std::size_t(1) << 60, "dyadic_edges", lags,
          " lags: there can be 1 to 2^60");
  std::vector<std::int64_t> edges{0};
  for (std::int64_t edge = 1; edge < std::int64_t(lags); edge *= 2) edges.push_back(edge);
  edges.push_back(std::int64_t(lags));
  if (!both_ways) return edges;
  std::vector<std::int64_t> all;
  for (std::size_t i = edges.size(); --i > 0;) all.push_back(-edges[i]);
  all.insert(all.end(), edges.begin(), edges.end());
  return all;
}

Var prefix_convolution(const Var& x, const Var& k, const std::vector<std::int64_t>& edges,
                       const std::vector<std::size_t>& lengths) {
  require(x.rank() == 3 && k.rank() == 2 && k.dim(1) == x.dim(2) && k.dim(0) + 1 == edges.size(),
          "prefix_convolution", "k must be (S, D) for x (B, T, D) and S + 1 = ", edges.size(),
          " edges: x ", x.shape(), ", k ", k.shape());
  require(std::is_sorted(edges.begin(), edges.end()), "prefix_convolution",
          "edges must be in ascending order");
  require_lengths("prefix_convolution", lengths, x.shape(), "x");
  const std::size_t B = x.dim(0), T = x.dim(1), D = x.dim(2);
  if (x.size() == 0 || k.size() == 0)
    return record("prefix_convolution", zeros(x.shape()), {x, k}, [](Tensor&) {});
  Tensor y = uninitialized(x.shape());
  convolve_pieces({B, T, D, lengths}, edges, x.data(), k.data(), 0, y.data());
  return record("prefix_convolution", std::move(y), {x, k}, [=](Tensor& g) {
    const ChannelSequences sequences{B, T, D, lengths};
    if (k.needs_gradient())
      accumulate_pieces(sequences, edges, x.data(), g.data(), k.gradient_buffer().data());
    if (!x.needs_gradient()) return;
    const GradientTarget target(x);
    const Tensor rows = mirrored_rows(k.value());
    convolve_pieces(sequences, mirrored_edges(edges), g.data(), rows.data(), target.beta,
                    target.data);
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION

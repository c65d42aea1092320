#include <algorithm>
#include <bochner/layers/features/gated_hybrid.hpp>
#include <bochner/layers/features/k_means.hpp>
#include <bochner/layers/features/moments.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Posteriors of equal Gaussian clusters: logits c . y / s - |c|^2 / (2 s), s the spread.
void store_gates(const Clusters& clusters, std::size_t d, real* gates, real* bias) {
  const double spread = std::max(clusters.spread, 1e-6);
  for (std::size_t r = 0; r < clusters.centres.size() / d; ++r) {
    const double* centre = clusters.centres.data() + r * d;
    bias[r] = 0;
    for (std::size_t e = 0; e < d; ++e) {
      gates[r * d + e] = real(centre[e] / spread);
      bias[r] -= real(centre[e] * centre[e] / (2 * spread));
    }
  }
}

/// ln |b / a|^(1/2), kept within a factor of 8: elements near 0 ask for no more.
double log_psi_of(double a, double b) {
  constexpr double guard = 1e-3, limit = 2.08;
  return std::clamp(std::log((std::abs(b) + guard) / (std::abs(a) + guard)) / 2, -limit, limit);
}

}  // namespace

void ClusterHybrid::calibrate(const Tensor& q, const Tensor& k) {
  for (std::size_t h = 0; h < H_; ++h) {
    const Clusters queries = k_means(scaled_samples(q, h, d_), d_, R_);
    const Clusters keys = k_means(scaled_samples(k, h, d_), d_, R_);
    store_gates(queries, d_, query_gates_.value().data() + h * R_ * d_,
                query_gate_bias_.value().data() + h * R_);
    store_gates(keys, d_, key_gates_.value().data() + h * R_ * d_,
                key_gate_bias_.value().data() + h * R_);
    for (std::size_t i = 0; i < K_ * d_; ++i) {
      const std::size_t a = i / d_ / R_, b = i / d_ % R_, e = i % d_;
      log_psi_.value().data()[h * K_ * d_ + i] =
          real(log_psi_of(queries.centres[a * d_ + e], keys.centres[b * d_ + e]));
    }
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <algorithm>
#include <bochner/layers/features/clusters.hpp>
#include <bochner/layers/features/gated_hybrid.hpp>
#include <bochner/layers/features/moments.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_rounds = 100;

double distance(const double* a, const double* b, std::size_t d) {
  double sum = 0;
  for (std::size_t e = 0; e < d; ++e) sum += (a[e] - b[e]) * (a[e] - b[e]);
  return sum;
}

struct Nearest {
  std::size_t centre = 0;
  double distance = std::numeric_limits<double>::infinity();
};

Nearest nearest(const double* point, const std::vector<double>& centres, std::size_t d) {
  Nearest best;
  for (std::size_t r = 0; r < centres.size() / d; ++r) {
    const double own = distance(point, centres.data() + r * d, d);
    if (own < best.distance) best = {r, own};
  }
  return best;
}

std::vector<double> first_centres(const std::vector<double>& points, std::size_t d, std::size_t R) {
  const std::size_t n = points.size() / d;
  std::vector<double> mean(d), centres;
  for (std::size_t i = 0; i < n * d; ++i) mean[i % d] += points[i] / double(n);
  for (std::size_t r = 0; r < R; ++r) {
    std::size_t chosen = 0;
    double best = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double* point = points.data() + i * d;
      const double own =
          r == 0 ? -distance(point, mean.data(), d) : nearest(point, centres, d).distance;
      if (i == 0 || own > best) best = own, chosen = i;
    }
    centres.insert(centres.end(), points.data() + chosen * d, points.data() + (chosen + 1) * d);
  }
  return centres;
}

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

Clusters k_means(const std::vector<double>& points, std::size_t d, std::size_t R) {
  const std::size_t n = points.size() / d;
  Clusters clusters{first_centres(points, d, R)};
  for (std::size_t round = 0; round < most_rounds; ++round) {
    std::vector<double> sums(R * d), counts(R), before = clusters.centres;
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto [centre, square] = nearest(points.data() + i * d, clusters.centres, d);
      total += square, counts[centre] += 1;
      for (std::size_t e = 0; e < d; ++e) sums[centre * d + e] += points[i * d + e];
    }
    for (std::size_t i = 0; i < R * d; ++i) {
      if (counts[i / d] > 0) clusters.centres[i] = sums[i] / counts[i / d];
    }
    clusters.spread = total / double(n * d);
    if (clusters.centres == before) break;
  }
  return clusters;
}

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

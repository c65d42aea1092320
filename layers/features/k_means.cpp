#include <bochner/layers/features/k_means.hpp>
#include <limits>

namespace bochner {
namespace {

constexpr std::size_t most_rounds = 100;

double squared_distance(const double* a, const double* b, std::size_t d) {
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
    const double own = squared_distance(point, centres.data() + r * d, d);
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
          r == 0 ? -squared_distance(point, mean.data(), d) : nearest(point, centres, d).distance;
      if (i == 0 || own > best) best = own, chosen = i;
    }
    centres.insert(centres.end(), points.data() + chosen * d, points.data() + (chosen + 1) * d);
  }
  return centres;
}

}  // namespace

Clusters k_means(const std::vector<double>& points, std::size_t d, std::size_t R) {
  const std::size_t n = points.size() / d;
  Clusters clusters{first_centres(points, d, R), std::vector<std::size_t>(n)};
  for (std::size_t round = 0; round < most_rounds; ++round) {
    std::vector<double> sums(R * d), counts(R), before = clusters.centres;
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto [centre, square] = nearest(points.data() + i * d, clusters.centres, d);
      clusters.labels[i] = centre;
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

}  // namespace bochner

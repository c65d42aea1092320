#include <algorithm>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/layers/probability/k_means.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t points_a_task = 256;

double squared_distance(const double* a, const double* b, std::size_t d) {
  double sum = 0;
  for (std::size_t e = 0; e < d; ++e) sum += (a[e] - b[e]) * (a[e] - b[e]);
  return sum;
}

/// Finds the nearest centres of points: centres (d, K) side by side, so that lanes are centres.
class CentreSearch {
 public:
  CentreSearch(const std::vector<double>& centres, std::size_t d)
      : d_(d), K_(centres.size() / d), columns_(centres.size()) {
    for (std::size_t k = 0; k < K_; ++k)
      for (std::size_t e = 0; e < d; ++e) columns_[e * K_ + k] = centres[k * d + e];
  }

  /// `distances` (K) are overwritten. -> the first among equals
  std::size_t nearest(const double* point, std::vector<double>& distances) const {
    distances.assign(K_, 0);
    double* sums = distances.data();
    for (std::size_t e = 0; e < d_; ++e) {
      const double x = point[e];
      const double* column = columns_.data() + e * K_;
      for (std::size_t k = 0; k < K_; ++k) sums[k] += (x - column[k]) * (x - column[k]);
    }
    return std::size_t(std::ranges::min_element(distances) - distances.begin());
  }

 private:
  std::size_t d_, K_;
  std::vector<double> columns_;
};

/// Labels and distances of all points. Whether a label has changed.
bool assign_points(const std::vector<double>& points, Clusters& clusters) {
  const std::size_t d = clusters.d, n = points.size() / d;
  const CentreSearch search(clusters.centres, d);
  const std::vector<std::size_t> before = clusters.labels;
  parallel_for(n, points_a_task, [&](std::size_t begin, std::size_t end) {
    std::vector<double> distances;
    for (std::size_t i = begin; i < end; ++i) {
      clusters.labels[i] = search.nearest(points.data() + i * d, distances);
      clusters.distances[i] = distances[clusters.labels[i]];
    }
  });
  clusters.objective.push_back(
      std::accumulate(clusters.distances.begin(), clusters.distances.end(), 0.0));
  return clusters.labels != before;
}

/// Means of their points; an empty one goes to the farthest point that none has gone to.
void move_centres(const std::vector<double>& points, Clusters& clusters) {
  const std::size_t d = clusters.d, n = points.size() / d, K = clusters.size();
  std::vector<double> sums(K * d), counts(K), distances = clusters.distances;
  for (std::size_t i = 0; i < n; ++i) {
    double* sum = sums.data() + clusters.labels[i] * d;
    for (std::size_t e = 0; e < d; ++e) sum[e] += points[i * d + e];
    counts[clusters.labels[i]] += 1;
  }
  for (std::size_t k = 0; k < K; ++k) {
    double* centre = clusters.centres.data() + k * d;
    if (counts[k] > 0) {
      for (std::size_t e = 0; e < d; ++e) centre[e] = sums[k * d + e] / counts[k];
    } else {
      const auto farthest = std::ranges::max_element(distances);
      std::copy_n(points.data() + std::size_t(farthest - distances.begin()) * d, d, centre);
      *farthest = 0;
    }
  }
}

/// The first centre is a point, each other one that which choose(squared distances of all points
/// from the centres so far, their number) says.
template <class Choose>
std::vector<double> chosen_centres(const std::vector<double>& points, std::size_t d, std::size_t K,
                                   std::size_t chosen, const Choose& choose) {
  const std::size_t n = points.size() / d;
  std::vector<double> centres, distances(n, std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < K; ++k) {
    const double* centre = points.data() + chosen * d;
    centres.insert(centres.end(), centre, centre + d);
    parallel_for(n, points_a_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        distances[i] = std::min(distances[i], squared_distance(points.data() + i * d, centre, d));
    });
    chosen = choose(distances, k + 1);
  }
  return centres;
}

/// The first centre is any point, others are drawn by their squared distance from all before.
std::vector<double> drawn_centres(const std::vector<double>& points, std::size_t d, std::size_t K,
                                  const RandomFunction& random) {
  const auto draw = [&](const std::vector<double>& distances, std::size_t k) {
    double left = random.uniform(k) * std::accumulate(distances.begin(), distances.end(), 0.0);
    std::size_t chosen = 0;
    while (chosen + 1 < distances.size() && (left -= distances[chosen]) > 0) ++chosen;
    return chosen;
  };
  return chosen_centres(points, d, K, random.integer(0, points.size() / d), draw);
}

/// The first centre is the point nearest to the mean, others are the farthest from all before.
std::vector<double> spread_centres(const std::vector<double>& points, std::size_t d,
                                   std::size_t K) {
  const std::size_t n = points.size() / d;
  std::vector<double> mean(d), distances(n);
  for (std::size_t i = 0; i < n * d; ++i) mean[i % d] += points[i] / double(n);
  for (std::size_t i = 0; i < n; ++i)
    distances[i] = squared_distance(points.data() + i * d, mean.data(), d);
  const auto farthest = [](const std::vector<double>& from, std::size_t) {
    return std::size_t(std::ranges::max_element(from) - from.begin());
  };
  const auto first = std::size_t(std::ranges::min_element(distances) - distances.begin());
  return chosen_centres(points, d, K, first, farthest);
}

Clusters clusters_from(const std::vector<double>& points, std::size_t d,
                       std::vector<double> centres, std::size_t rounds) {
  const std::size_t n = points.size() / d;
  Clusters clusters{d, std::move(centres), std::vector<std::size_t>(n), std::vector<double>(n), {}};
  assign_points(points, clusters);
  for (std::size_t round = 0; round < rounds; ++round) {
    move_centres(points, clusters);
    if (!assign_points(points, clusters)) break;
  }
  return clusters;
}

/// The element below which this part of them lies, between two of them.
double percentile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  const double place = part * double(values.size() - 1);
  const auto first = std::size_t(place);
  const double next = values[std::min(first + 1, values.size() - 1)];
  return values[first] + (place - double(first)) * (next - values[first]);
}

}  // namespace

Clusters k_means(const std::vector<double>& points, std::size_t d, const KMeansOptions& options,
                 const RandomFunction& random) {
  require(options.clusters >= 1 && options.clusters * d <= points.size(), "k_means",
          options.clusters, " clusters of ", points.size() / d, " points");
  Clusters best;
  for (std::size_t start = 0; start < std::max<std::size_t>(1, options.starts); ++start) {
    RandomFunction own = random;
    own.stream += start;
    Clusters found =
        clusters_from(points, d, drawn_centres(points, d, options.clusters, own), options.rounds);
    if (start == 0 || found.objective.back() < best.objective.back()) best = std::move(found);
  }
  return best;
}

Clusters k_means(const std::vector<double>& points, std::size_t d, std::size_t clusters) {
  return clusters_from(points, d, spread_centres(points, d, clusters), KMeansOptions().rounds);
}

std::vector<double> unit_length(std::vector<double> points, std::size_t d) {
  for (std::size_t i = 0; i < points.size(); i += d) {
    double square = 0;
    for (std::size_t e = 0; e < d; ++e) square += points[i + e] * points[i + e];
    const double length = square > 0 ? std::sqrt(square) : 1;
    for (std::size_t e = 0; e < d; ++e) points[i + e] /= length;
  }
  return points;
}

std::vector<std::size_t> nearest_centres(const std::vector<double>& points,
                                         const std::vector<double>& centres, std::size_t d) {
  const std::size_t n = points.size() / d;
  Clusters clusters{d, centres, std::vector<std::size_t>(n), std::vector<double>(n), {}};
  assign_points(points, clusters);
  return clusters.labels;
}

std::vector<double> concentrations(const Clusters& clusters, double mean) {
  constexpr double alpha = 10;
  const std::size_t K = clusters.size();
  std::vector<double> phi(K), counts(K);
  for (std::size_t i = 0; i < clusters.labels.size(); ++i) {
    phi[clusters.labels[i]] += std::sqrt(clusters.distances[i]);
    counts[clusters.labels[i]] += 1;
  }
  for (std::size_t k = 0; k < K; ++k)
    phi[k] = counts[k] > 1 ? phi[k] / (counts[k] * std::log(counts[k] + alpha)) : 0;
  const double largest = std::ranges::max(phi);
  if (largest == 0) return std::vector<double>(K, mean);  // every point is a centre
  for (std::size_t k = 0; k < K; ++k)
    if (counts[k] <= 1) phi[k] = largest;
  const double high = percentile(phi, 0.9);
  const double low = std::max(percentile(phi, 0.1), 1e-3 * high);  // not 0, of equal points
  for (double& one : phi) one = std::clamp(one, low, high);
  const double sum = std::accumulate(phi.begin(), phi.end(), 0.0);
  if (sum == 0) return std::vector<double>(K, mean);
  for (double& one : phi) one *= mean * double(K) / sum;
  return phi;
}

}  // namespace bochner::inline BOCHNER_PRECISION

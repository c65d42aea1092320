#include <bochner/autodiff/compute/philox.hpp>
#include <bochner/train/laboratory/cluster_experiment.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_rounds = 100, starts = 10;

/// Every column to mean 0 and variance 1; a constant column stays 0.
Tensor standardized(const Tensor& rows) {
  const std::size_t n = rows.shape()[0], d = rows.shape()[1];
  Tensor y = rows;
  for (std::size_t j = 0; j < d; ++j) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < n; ++i) mean += double(rows.data()[i * d + j]) / double(n);
    for (std::size_t i = 0; i < n; ++i)
      square += std::pow(double(rows.data()[i * d + j]) - mean, 2) / double(n);
    const double deviation = square > 0 ? std::sqrt(square) : 1;
    for (std::size_t i = 0; i < n; ++i)
      y.data()[i * d + j] = real((double(rows.data()[i * d + j]) - mean) / deviation);
  }
  return y;
}

double squared_distance(const real* a, const real* b, std::size_t d) {
  double sum = 0;
  for (std::size_t j = 0; j < d; ++j) sum += std::pow(double(a[j] - b[j]), 2);
  return sum;
}

Tensor means_of(const Tensor& rows, const std::vector<std::size_t>& labels, std::size_t clusters) {
  const std::size_t d = rows.shape()[1];
  std::vector<double> sums(clusters * d), counts(clusters);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ++counts[labels[i]];
    for (std::size_t j = 0; j < d; ++j) sums[labels[i] * d + j] += double(rows.data()[i * d + j]);
  }
  Tensor means = zeros({clusters, d});
  for (std::size_t i = 0; i < means.size(); ++i)
    if (counts[i / d] > 0) means.data()[i] = real(sums[i] / counts[i / d]);
  return means;
}

std::size_t nearest_centre(const real* row, const Tensor& centres) {
  const std::size_t d = centres.shape()[1];
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < centres.shape()[0]; ++c) {
    const double distance = squared_distance(row, centres.data() + c * d, d);
    if (distance < least) best = c, least = distance;
  }
  return best;
}

/// A random row, and then always the row that is farthest from the centres so far.
Tensor first_centres(const Tensor& rows, std::size_t clusters, std::uint64_t seed) {
  const std::size_t n = rows.shape()[0], d = rows.shape()[1];
  const RandomFunction random{seed, Purpose::sampling, stream_of("k_means")};
  Tensor centres = uninitialized({clusters, d});
  std::vector<double> least(n, std::numeric_limits<double>::infinity());
  std::size_t next = random.integer(0, n);
  for (std::size_t c = 0; c < clusters; ++c) {
    std::copy_n(rows.data() + next * d, d, centres.data() + c * d);
    for (std::size_t i = 0; i < n; ++i) {
      least[i] =
          std::min(least[i], squared_distance(rows.data() + i * d, centres.data() + c * d, d));
      if (i == 0 || least[i] > least[next]) next = i;
    }
  }
  return centres;
}

/// Lloyd's algorithm from one start.
struct Partition {
  std::vector<std::size_t> labels;
  double distance = 0;  // summed squares to the centres
};
Partition partition(const Tensor& rows, std::size_t clusters, std::uint64_t seed) {
  const std::size_t n = rows.shape()[0], d = rows.shape()[1];
  Tensor centres = first_centres(rows, clusters, seed);
  Partition result{std::vector<std::size_t>(n), 0};
  std::vector<std::size_t> before;
  for (std::size_t round = 0; round < most_rounds && result.labels != before; ++round) {
    before = round > 0 ? result.labels : std::vector<std::size_t>();
    result.distance = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const real* row = rows.data() + i * d;
      result.labels[i] = nearest_centre(row, centres);
      result.distance += squared_distance(row, centres.data() + result.labels[i] * d, d);
    }
    centres = means_of(rows, result.labels, clusters);
  }
  return result;
}

}  // namespace

Clusters k_means(const Tensor& rows, std::size_t clusters, std::uint64_t seed) {
  require(clusters > 0 && clusters <= rows.shape()[0], "k_means", clusters, " clusters of ",
          rows.shape()[0], " rows");
  const Tensor scaled = standardized(rows);
  Partition best = partition(scaled, clusters, seed);
  for (std::size_t start = 1; start < starts; ++start) {
    Partition other = partition(scaled, clusters, seed + start);
    if (other.distance < best.distance) best = std::move(other);
  }
  return {best.labels, means_of(rows, best.labels, clusters)};
}

}  // namespace bochner::inline BOCHNER_PRECISION

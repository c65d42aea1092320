#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/tasks/contrast/embedding_pictures.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t most_points = 2000, most_colours = 10;

/// Subtracts the mean row. (n, d)
std::vector<double> centred(std::vector<double> rows, std::size_t d) {
  const double n = double(rows.size() / d);
  std::vector<double> mean(d);
  for (std::size_t i = 0; i < rows.size(); ++i) mean[i % d] += rows[i] / n;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] -= mean[i % d];
  return rows;
}

double along(const double* row, const std::vector<double>& direction) {
  double sum = 0;
  for (std::size_t j = 0; j < direction.size(); ++j) sum += row[j] * direction[j];
  return sum;
}

/// Returns the first principal direction of centred rows, by power iteration. (n, d) -> (d)
std::vector<double> widest_direction(const std::vector<double>& rows, std::size_t d) {
  constexpr int rounds = 50;
  std::vector<double> direction(d, 1 / std::sqrt(double(d)));
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> next(d);
    for (std::size_t i = 0; i < rows.size(); i += d) {
      const double place = along(rows.data() + i, direction);
      for (std::size_t j = 0; j < d; ++j) next[j] += place * rows[i + j];
    }
    const double length = std::sqrt(along(next.data(), next));
    if (length == 0) break;
    for (std::size_t j = 0; j < d; ++j) direction[j] = next[j] / length;
  }
  return direction;
}

}  // namespace

std::vector<double> principal_plane(const std::vector<double>& rows, std::size_t d) {
  std::vector<double> left = centred(rows, d), plane(2 * (rows.size() / d));
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::vector<double> direction = widest_direction(left, d);
    for (std::size_t i = 0; i < left.size(); i += d) {
      const double place = along(left.data() + i, direction);
      plane[2 * (i / d) + axis] = place;
      for (std::size_t j = 0; j < d; ++j) left[i + j] -= place * direction[j];
    }
  }
  return plane;
}

void add_embeddings(Page& page, const Embeddings& embeddings, Split split) {
  const std::size_t d = embeddings.width, n = std::min(embeddings.values.size() / d, most_points);
  if (n == 0) return;
  const std::vector<double> plane = principal_plane(
      {embeddings.values.begin(), embeddings.values.begin() + std::ptrdiff_t(n * d)}, d);
  const bool coloured = !embeddings.labels.empty() && embeddings.classes <= most_colours;
  std::vector<Curve> points(coloured ? embeddings.classes : 1);
  for (std::size_t i = 0; i < n; ++i) {
    Curve& own = points[coloured ? std::size_t(embeddings.labels[i]) : 0];
    own.x.push_back(plane[2 * i]);
    own.y.push_back(plane[2 * i + 1]);
  }
  Chart chart{"Principal components", {"first"}, {"second"}};
  chart.height = chart.width;
  for (std::size_t k = 0; k < points.size(); ++k)
    chart.add(coloured ? fmt::format("label {}", k) : "", points[k], Mark::points, int(k));
  page.section("Embeddings",
               fmt::format("The first two principal components of {} examples of the {} split.{}",
                           n, name_of(split), coloured ? " Training did not use labels." : ""));
  page.charts({draw(chart)});
}

}  // namespace bochner

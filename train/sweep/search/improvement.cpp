#include <algorithm>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/base/numeric/low_discrepancy.hpp>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/train/sweep/search/improvement.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace {

constexpr std::size_t candidates = 2048, refined = 8, rounds = 3;
constexpr double log_sqrt_two_pi = log_two_pi / 2;

std::vector<double> point_of(const std::vector<double>& points, std::size_t row, std::size_t d) {
  const auto begin = points.begin() + std::ptrdiff_t(row * d);
  return {begin, begin + std::ptrdiff_t(d)};
}

/// Point and the logarithm of its expected improvement.
struct Candidate {
  std::vector<double> point;
  double gain;
};

class Maximiser {
 public:
  Maximiser(const Space& space, const Surrogate& surrogate, double best)
      : space_(space), surrogate_(surrogate), best_(best) {}

  double gain(const std::vector<double>& point) const {
    const Prediction there = surrogate_.predict(point);
    return std::log(there.deviation) + log_improvement((best_ - there.mean) / there.deviation);
  }

  /// Climbs from the point, alternating between axes with levels and the others.
  Candidate refine(Candidate from) const {
    for (std::size_t round = 0; round < rounds; ++round) {
      const double before = from.gain;
      from = along_gradient(from);
      for (std::size_t axis = 0; axis < space_.size(); ++axis)
        if (!space_.is_continuous(axis)) from = over_levels(from, axis);
      if (from.gain - before < 1e-6) break;
    }
    return from;
  }

 private:
  /// Climbs in units of the kernel's lengths, not to the maximum: where the expectation is flat, as
  /// far from all known points, the maximum is a corner of the cube, and trials should differ.
  Candidate along_gradient(const Candidate& from) const {
    const Values values = space_.at(from.point);
    std::vector<double> lengths, start, low, high;
    for (std::size_t i = 0; i < space_.size(); ++i) {
      const bool moves = space_.is_continuous(i) && !values[i].empty();
      lengths.push_back(1 / std::sqrt(surrogate_.kernel().rates[i]));
      start.push_back(from.point[i] / lengths[i]);
      low.push_back(moves ? 0 : start[i]);
      high.push_back(moves ? 1 / lengths[i] : start[i]);
    }
    if (low == high) return from;
    const auto place = [&](std::vector<double> scaled) {
      for (std::size_t i = 0; i < scaled.size(); ++i)
        scaled[i] = low[i] < high[i] ? std::min(1.0, scaled[i] * lengths[i]) : from.point[i];
      return scaled;
    };
    const SmoothFunction loss = [&](const std::vector<double>& scaled,
                                    std::vector<double>& gradient) {
      const Prediction there = surrogate_.predict(place(scaled), true);
      const double z = (best_ - there.mean) / there.deviation;
      double slope = 0;
      const double value = std::log(there.deviation) + log_improvement(z, &slope);
      for (std::size_t i = 0; i < scaled.size(); ++i)
        gradient[i] =
            lengths[i] *
            (slope * there.mean_gradient[i] - (1 - slope * z) * there.deviation_gradient[i]) /
            there.deviation;
      return -value;
    };
    const Minimum found = minimise_in_box(loss, start, low, high, 1e-2);
    return -found.value > from.gain ? Candidate{place(found.x), -found.value} : from;
  }

  Candidate over_levels(Candidate best, std::size_t axis) const {
    std::vector<double> point = best.point;
    for (const double level : space_.levels(axis)) {
      point[axis] = level;
      // Conditions may add values of other keys there, or remove them.
      const std::vector<double> place = space_.place(space_.at(point));
      if (const double gain = this->gain(place); gain > best.gain) best = {place, gain};
    }
    return best;
  }

  const Space& space_;
  const Surrogate& surrogate_;
  double best_;
};

}  // namespace

double log_improvement(double z, double* slope) {
  if (z > -5) {
    const double density = std::exp(-z * z / 2 - log_sqrt_two_pi);
    const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
    const double improvement = density + z * below;
    if (slope) *slope = below / improvement;
    return std::log(improvement);
  }
  // Mills' ratio is 1 / (t + 1 / (t + 2 / (t + 3 / ...))) for t = -z; 1 - t times it is rest / (t +
  // rest), with the rest of the fraction after the first t.
  const double t = -z;
  double rest = 0;
  for (int k = 60; k >= 1; --k) rest = k / (t + rest);
  if (slope) *slope = 1 / rest;
  return -t * t / 2 - log_sqrt_two_pi + std::log(rest / (t + rest));
}

std::optional<Values> first_unknown(const Space& space, const std::vector<double>& points,
                                    const std::set<Values>& known) {
  for (std::size_t i = 0; i < points.size() / space.size(); ++i) {
    const Values values = space.at(point_of(points, i, space.size()));
    if (!known.contains(values)) return values;
  }
  return std::nullopt;
}

std::optional<Values> most_promising(const Space& space, const Surrogate& surrogate, double best,
                                     const std::set<Values>& known, std::uint64_t seed,
                                     std::uint64_t number) {
  const std::size_t d = space.size();
  const std::vector<double> points =
      sobol_points(SobolRandomisation::owen, 1, candidates, d, {seed, Purpose::sampling, number});
  const Maximiser maximiser(space, surrogate, best);
  std::vector<Candidate> found;
  for (std::size_t i = 0; i < candidates; ++i) {
    const std::vector<double> place = space.place(space.at(point_of(points, i, d)));
    found.push_back({place, maximiser.gain(place)});
  }
  const auto more = [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; };
  std::ranges::stable_sort(found, more);
  // Also from the best known place: the optimum is often near it.
  const Scored& data = surrogate.data();
  const auto least = std::ranges::min_element(data.scores) - data.scores.begin();
  const std::vector<double> known_best = point_of(data.points, std::size_t(least), d);
  std::vector<Candidate> starts(found.begin(), found.begin() + refined);
  starts.push_back({known_best, maximiser.gain(known_best)});
  for (const Candidate& start : starts) {
    // Values are written with four digits.
    const Values values = space.at(maximiser.refine(start).point);
    const std::vector<double> place = space.place(values);
    found.push_back({place, maximiser.gain(place)});
  }
  std::ranges::stable_sort(found, more);
  for (const Candidate& candidate : found) {
    const Values values = space.at(candidate.point);
    if (!known.contains(values)) return values;
  }
  return std::nullopt;
}

}  // namespace bochner

#include <algorithm>
#include <bochner/base/numeric/minimise.hpp>
#include <cmath>
#include <deque>

namespace bochner {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double largest_part(const Vector& a) {
  double largest = 0;
  for (const double part : a) largest = std::max(largest, std::fabs(part));
  return largest;
}

void add(Vector& a, double factor, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

Vector difference(const Vector& a, const Vector& b) {
  Vector c = a;
  add(c, -1, b);
  return c;
}

/// What the last steps tell of the curvature.
class Curvature {
 public:
  void learn(const Vector& step, const Vector& change) {
    const double product = dot(step, change);
    if (!(product > 1e-10 * std::sqrt(dot(step, step) * dot(change, change)))) return;
    pairs_.push_back({step, change, product});
    if (pairs_.size() > most_pairs) pairs_.pop_front();
  }
  void forget() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }
  /// The inverse of the matrix of second derivatives times the gradient, about.
  Vector applied_to(Vector gradient) const {
    Vector parts;
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
      parts.push_back(dot(pair->step, gradient) / pair->product);
      add(gradient, -parts.back(), pair->change);
    }
    if (!pairs_.empty()) {
      const Pair& last = pairs_.back();
      const double scale = last.product / dot(last.change, last.change);
      for (double& number : gradient) number *= scale;
    }
    for (const Pair& pair : pairs_) {
      add(gradient, parts.back() - dot(pair.change, gradient) / pair.product, pair.step);
      parts.pop_back();
    }
    return gradient;
  }

 private:
  static constexpr std::size_t most_pairs = 10;
  struct Pair {
    Vector step, change;
    double product;
  };
  std::deque<Pair> pairs_;
};

class BoxedSearch {
 public:
  BoxedSearch(const SmoothFunction& f, Vector x, const Vector& low, const Vector& high,
              double steepness)
      : f_(f),
        low_(low),
        high_(high),
        steepness_(steepness),
        x_(std::move(x)),
        gradient_(x_.size()) {
    value_ = f_(x_, gradient_);
  }

  /// One step; false when there is none.
  bool go_on() {
    const Vector slope = free_part(gradient_);
    if (!std::isfinite(value_) || largest_part(slope) <= steepness_) return false;
    Vector direction = free_part(curvature_.applied_to(slope));
    if (!(dot(direction, slope) > 0)) {
      curvature_.forget();
      direction = slope;
    }
    if (curvature_.empty()) shorten(direction);
    const double before = value_;
    if (!search_along(direction)) {
      if (curvature_.empty()) return false;
      curvature_.forget();
      return true;
    }
    return before - value_ > 1e-11 * (1 + std::fabs(value_));
  }

  Minimum found() const { return {x_, value_}; }

 private:
  /// Without what would lead out of the box.
  Vector free_part(Vector direction) const {
    for (std::size_t i = 0; i < x_.size(); ++i)
      if ((x_[i] <= low_[i] && gradient_[i] > 0) || (x_[i] >= high_[i] && gradient_[i] < 0))
        direction[i] = 0;
    return direction;
  }

  /// To a tenth of the box at most.
  void shorten(Vector& direction) const {
    double longest = 0;
    for (std::size_t i = 0; i < x_.size(); ++i)
      if (high_[i] > low_[i])
        longest = std::max(longest, std::fabs(direction[i]) / (high_[i] - low_[i]));
    if (longest > 0.1)
      for (double& number : direction) number *= 0.1 / longest;
  }

  bool search_along(const Vector& direction) {
    Vector next(x_.size()), gradient(x_.size());
    for (double length = 1; length > 1e-10; length /= 2) {
      for (std::size_t i = 0; i < x_.size(); ++i)
        next[i] = std::clamp(x_[i] - length * direction[i], low_[i], high_[i]);
      const Vector step = difference(next, x_);
      const double value = f_(next, gradient);
      if (dot(step, step) == 0) return false;
      if (!(value < value_ + 1e-4 * std::min(0.0, dot(gradient_, step)))) continue;
      curvature_.learn(step, difference(gradient, gradient_));
      x_ = next;
      value_ = value;
      gradient_ = gradient;
      return true;
    }
    return false;
  }

  const SmoothFunction& f_;
  const Vector &low_, &high_;
  double steepness_;
  Vector x_, gradient_;
  double value_;
  Curvature curvature_;
};

}  // namespace

Minimum minimise_in_box(const SmoothFunction& f, std::vector<double> x,
                        const std::vector<double>& low, const std::vector<double>& high,
                        double steepness, int iterations) {
  BoxedSearch search(f, std::move(x), low, high, steepness);
  for (int i = 0; i < iterations && search.go_on(); ++i) {
  }
  return search.found();
}

}  // namespace bochner

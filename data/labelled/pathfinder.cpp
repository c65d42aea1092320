#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/labelled/pathfinder.hpp>
#include <cmath>
#include <numbers>
#include <optional>

namespace bochner {
namespace {

constexpr std::size_t dashes = 14, dashes_of_distractor = 4, distractors = 5, tries = 5;
constexpr double contrast = 1.5, full = 2 * std::numbers::pi;

/// Lengths in pixels.
struct Sizes {
  double dash, gap, thickness, disc, apart;

  explicit Sizes(std::size_t side) {
    const auto between = [&](double at32, double at128) {
      return at32 + (at128 - at32) * (double(side) - 32) / 96;
    };
    dash = between(2, 5), gap = between(1, 3), thickness = between(0.5, 1.5);
    disc = between(1.5, 3), apart = between(7, 20);
  }
};

PathPoint moved(const PathPoint& p, double angle, double by) {
  return {p.x + by * std::cos(angle), p.y + by * std::sin(angle)};
}

/// A curve whose last dash starts at `pivot` plus a gap, in direction `angle`.
struct Curve {
  PathPoint pivot;
  double angle;
  std::vector<PathDash> dashes;
};

PathPoint centre_of(std::size_t pixel, std::size_t side) {
  return {double(pixel % side) + 0.5, double(pixel / side) + 0.5};
}

/// Calls visit(pixel) for the pixels of an image whose centres are within `reach` of a dash.
template <class Visit>
void for_each_pixel(const PathDash& dash, double reach, std::size_t side, const Visit& visit) {
  const auto clamped = [&](double x) { return std::size_t(std::clamp(x, 0.0, double(side - 1))); };
  const auto [x0, x1] = std::minmax(dash.from.x, dash.to.x);
  const auto [y0, y1] = std::minmax(dash.from.y, dash.to.y);
  for (std::size_t y = clamped(y0 - reach); y <= clamped(y1 + reach); ++y)
    for (std::size_t x = clamped(x0 - reach); x <= clamped(x1 + reach); ++x)
      if (distance(dash, centre_of(y * side + x, side)) <= reach) visit(y * side + x);
}

/// Pixels that all dashes occupy except for the last one of each curve, with the gap around them.
class Ground {
 public:
  Ground(std::size_t side, const Sizes& sizes) : side_(side), sizes_(sizes), taken_(side * side) {}

  void take(const PathDash& dash) {
    for_each_pixel(dash, sizes_.gap + sizes_.thickness / 2, side_,
                   [&](std::size_t pixel) { taken_[pixel] = 1; });
  }
  /// Returns whether a dash is within the image and off the ground, also of one more dash.
  bool is_free(const PathDash& dash, const PathDash* other = nullptr) const {
    for (const PathPoint& p : {dash.from, dash.to})
      if (std::min(p.x, p.y) < 1 || std::max(p.x, p.y) > double(side_) - 1) return false;
    const double apart = sizes_.gap + sizes_.thickness / 2;
    bool free = true;
    for_each_pixel(dash, half_a_diagonal, side_, [&](std::size_t pixel) {
      free =
          free && !taken_[pixel] && (!other || distance(*other, centre_of(pixel, side_)) > apart);
    });
    return free;
  }

  /// Returns the first dash of a curve, if it is free.
  std::optional<Curve> begin(const PathPoint& tail, double angle,
                             const PathDash* other = nullptr) const {
    const PathDash dash{tail, moved(tail, angle, sizes_.dash)};
    if (!is_free(dash, other)) return {};
    return Curve{moved(tail, angle, -sizes_.gap), angle, {dash}};
  }
  /// Adds a dash, which more likely keeps the direction: the probability of a turn falls as the
  /// square of its cosine. Returns false if there is no room.
  bool extend(Curve& curve, Draws& draws, const PathDash* other = nullptr) {
    const PathPoint pivot = moved(curve.pivot, curve.angle, sizes_.dash + 2 * sizes_.gap);
    const auto directions = std::size_t(full * (sizes_.dash + sizes_.gap));
    std::vector<double> sums;
    double sum = 0;
    for (std::size_t i = 0; i < directions; ++i) {
      const double angle = full * double(i) / double(directions),
                   cosine = std::cos(angle - curve.angle);
      if (cosine > 0 && is_free(dash_at(pivot, angle), other)) sum += cosine * cosine;
      sums.push_back(sum);
    }
    if (sum == 0) return false;
    const double drawn = draws.uniform() * sum;
    const auto chosen = std::size_t(std::ranges::upper_bound(sums, drawn) - sums.begin());
    take(curve.dashes.back());
    curve.pivot = pivot;
    curve.angle = full * double(std::min(chosen, directions - 1)) / double(directions);
    curve.dashes.push_back(dash_at(pivot, curve.angle));
    return true;
  }

 private:
  static constexpr double half_a_diagonal = 0.75;

  PathDash dash_at(const PathPoint& pivot, double angle) const {
    return {moved(pivot, angle, sizes_.gap), moved(pivot, angle, sizes_.gap + sizes_.dash)};
  }
  std::size_t side_;
  Sizes sizes_;
  std::vector<char> taken_;
};

PathPoint random_point(Draws& draws, double low, double high) {
  const double x = low + (high - low) * draws.uniform();
  return {x, low + (high - low) * draws.uniform()};
}

/// Returns two long curves that begin near the middle, in turns; nothing where they block each
/// other.
std::optional<std::vector<Curve>> long_curves(std::size_t side, const Sizes& sizes, Ground& ground,
                                              Draws& draws) {
  const double border = std::min(2 * sizes.apart, double(side) / 2);
  const PathPoint first = random_point(draws, border, double(side) - border),
                  second = moved(first, full * draws.uniform(), sizes.apart);
  std::vector<Curve> curves;
  for (const PathPoint& tail : {first, second}) {
    const auto curve =
        ground.begin(tail, full * draws.uniform(), curves.empty() ? nullptr : &curves[0].dashes[0]);
    if (!curve) return {};
    curves.push_back(*curve);
  }
  for (std::size_t i = 1; i < dashes; ++i)
    for (const std::size_t which : {0, 1})
      if (!ground.extend(curves[which], draws, &curves[1 - which].dashes.back())) return {};
  for (const Curve& curve : curves) ground.take(curve.dashes.back());
  return curves;
}

/// Returns a short curve, if one of a few tries finds room.
std::optional<Curve> distractor(std::size_t side, const Ground& ground, Draws& draws) {
  for (std::size_t i = 0; i < tries; ++i) {
    Ground tried = ground;
    auto curve = tried.begin(random_point(draws, 1, double(side) - 1), full * draws.uniform());
    while (curve && curve->dashes.size() < dashes_of_distractor)
      if (!tried.extend(*curve, draws)) curve.reset();
    if (curve) return curve;
  }
  return {};
}

/// Returns the share of a pixel that is within `reach` of a dash, on a grid of 4 x 4 points.
double covered(const PathDash& dash, double reach, std::size_t x, std::size_t y) {
  int inside = 0;
  for (int i = 0; i < 16; ++i)
    inside +=
        distance(dash, {double(x) + (i % 4 + 0.5) / 4, double(y) + (i / 4 + 0.5) / 4}) <= reach;
  return inside / 16.0;
}

}  // namespace

double distance(const PathDash& dash, const PathPoint& p) {
  const auto [from, to] = dash;
  const double dx = to.x - from.x, dy = to.y - from.y, square = dx * dx + dy * dy;
  const double along = square == 0 ? 0 : ((p.x - from.x) * dx + (p.y - from.y) * dy) / square;
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(p.x - from.x - t * dx, p.y - from.y - t * dy);
}

PathScene path_scene(std::size_t side, bool connected, Draws& draws) {
  const Sizes sizes(side);
  while (true) {
    Ground ground(side, sizes);
    const auto curves = long_curves(side, sizes, ground, draws);
    if (!curves) continue;
    PathScene scene;
    for (const Curve& curve : *curves) scene.curves.push_back(curve.dashes);
    const std::size_t one = draws.below(2), other = connected ? one : 1 - one;
    scene.discs = {scene.curves[one].front().from, scene.curves[other].back().to};
    for (std::size_t i = 0; i < distractors; ++i)
      if (const auto curve = distractor(side, ground, draws)) {
        scene.curves.push_back(curve->dashes);
        for (const PathDash& dash : curve->dashes) ground.take(dash);
      }
    return scene;
  }
}

void Pathfinder::draw(Draws draws, LabelledExample& example) const {
  const std::size_t side = this->side();
  const Sizes sizes(side);
  example.label = std::int32_t(draws.below(2));
  const PathScene scene = path_scene(side, example.label == 1, draws);
  std::vector<double> light(side * side);
  const auto brighten = [&](const PathDash& dash, double reach, double factor) {
    for_each_pixel(dash, reach + 1, side, [&](std::size_t pixel) {
      const double share = covered(dash, reach, pixel % side, pixel / side);
      light[pixel] = std::max(light[pixel], factor * share);
    });
  };
  for (const auto& curve : scene.curves)
    for (const PathDash& dash : curve) brighten(dash, sizes.thickness / 2, contrast);
  for (const PathPoint& disc : scene.discs) brighten({disc, disc}, sizes.disc, 1);
  for (const double one : light)
    example.tokens.push_back(std::int32_t(std::lround(255 * std::min(1.0, one))));
}

}  // namespace bochner

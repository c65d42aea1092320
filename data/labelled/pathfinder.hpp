#pragma once
#include <array>
#include <bochner/data/labelled/pixels.hpp>
#include <vector>

namespace bochner {

/// A point in pixels from the corner of an image.
struct PathPoint {
  double x, y;
};
/// The ends of a dash.
struct PathDash {
  PathPoint from, to;
};
/// Two long curves of dashes, then shorter ones that distract, and the discs.
struct PathScene {
  std::vector<std::vector<PathDash>> curves;
  std::array<PathPoint, 2> discs;
};

/// Returns the scene of an image whose discs mark the ends of one long curve (connected), or ends
/// of two.
PathScene path_scene(std::size_t side, bool connected, Draws& draws);
/// Returns the distance of a point from a dash.
double distance(const PathDash& dash, const PathPoint& point);

/// Generated grey images of dashed curves and two discs: label 1 if the discs mark the ends of one
/// curve of 14 dashes, 0 if they mark ends of two such curves. Shorter curves distract. Sizes are
/// those of the Long Range Arena for sides of 32 and 128 pixels (Tay et al., 2021), linear between.
/// Linsley et al., "Learning long-range spatial dependencies with horizontal gated recurrent
/// units", 2018; images are drawn differently.
class Pathfinder : public GeneratedImages {
 public:
  static constexpr std::size_t smallest_side = 32;
  /// Throws std::invalid_argument for a side below the smallest.
  Pathfinder(const ShapesSpec& spec, const ExampleSet& examples)
      : GeneratedImages("pathfinder", smallest_side, 2, spec, examples) {}

 private:
  void draw(Draws draws, LabelledExample& example) const override;
};

}  // namespace bochner

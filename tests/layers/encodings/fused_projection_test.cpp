#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/layers/encodings/space_time.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace fused_projection_test {

using namespace layer_check;

std::vector<double> unit_axis(std::size_t n) {
  std::vector<double> axis(n);
  for (std::size_t i = 0; i < n; ++i) axis[i] = double(i) / double(n);
  return axis;
}

SpaceTimeSpec spec_of(const std::string& kind) {
  SpaceTimeSpec spec{.kind = kind, .width = 21};
  spec.space.frequencies = 40;
  spec.space.scale = 5;
  spec.time.frequencies = 9;
  spec.time.scale = 3;
  return spec;
}

TEST(FusedProjection, ByFftIsTheSame) {
  for (const char* kind : {"fused", "space", "time", "axes"}) {
    const bool on_axes = kind == std::string("axes");
    SpaceTimeSpec spec = spec_of(on_axes ? "fused" : kind);
    if (on_axes) spec.space.kind = spec.time.kind = "axes";
    FusedProjection fused(spec);
    initialize(fused, 3);
    for (std::size_t i = 0; i < fused.mask().size(); i += 3) fused.mask().data()[i] = 0;
    const GridAxes space{unit_axis(16), unit_axis(11)};
    Tape tape;
    const Tensor expected = fused.grid(tape, space, unit_axis(7)).value();
    op_check::expect_near(fused.grid_by_fft(space, unit_axis(7)), expected,
                          is_double ? 1e-10 : 1e-5);
  }
}

TEST(FusedProjection, ByFftWantsARegularGrid) {
  FusedProjection fused(spec_of("fused"));
  EXPECT_EQ(op_check::error_of([&] {
              fused.grid_by_fft({{0, 1, 3}, {0, 1}}, {0, 1});
            }),
            "[regular_axis] node 1 of an axis, at 1, is not on a regular grid");
}

/// Returns x^T x.
Tensor gram(const Tensor& x) { return matmul_tn(Var(x), Var(x)).value(); }

TEST(FusedProjection, FewRowsHaveTheProductsOfAll) {
  const GridAxes space{unit_axis(5), unit_axis(3)};
  const Places nodes = nodes_of(space);
  Places all{2, {}};
  std::vector<double> times;
  for (const double time : unit_axis(4)) {
    all.coordinates.insert(all.coordinates.end(), nodes.coordinates.begin(),
                           nodes.coordinates.end());
    times.insert(times.end(), nodes.count(), time);
  }
  for (const char* kind : {"fused", "space", "time"}) {
    FusedProjection fused(spec_of(kind));
    initialize(fused, 3);
    Tape tape;
    const Tensor few = fused.grid_inputs(tape, space, unit_axis(4));
    EXPECT_LE(few.shape()[0], 15u + 4u + 1u);
    const Tensor many = fused.inputs(tape, all, times).value();
    const double repeats =
        std::string(kind) == "fused" ? 1 : double(many.shape()[0]) / double(few.shape()[0] - 2);
    Tensor wanted = gram(many);
    for (real& value : wanted) value /= real(repeats);
    op_check::expect_near(gram(few), wanted, is_double ? 1e-12 : 1e-5);
  }
}

}  // namespace fused_projection_test
}  // namespace bochner::inline BOCHNER_PRECISION

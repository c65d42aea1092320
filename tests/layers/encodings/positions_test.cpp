#include <bochner/layers/encodings/positions.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace positions_test {

using namespace layer_check;

TEST(Positions, AreDifferentiable) {
  for (const char* kind : {"learned", "sinusoidal"}) {
    for (std::size_t first : {0, 2}) {
      const auto positions = make_positions(kind, 5, 4);
      randomize(*positions);
      const std::size_t T = first == 0 ? 5 : 3;
      check_layer(*positions, random_tensor({2, T, 4}, 1),
                  [&](Tape& tape, const Var& x) { return positions->forward(tape, x, first); });
    }
  }
}

/// Position t is encoded the same in any window.
TEST(Positions, CountFromAnyStart) {
  for (const char* kind : {"learned", "sinusoidal"}) {
    const auto positions = make_positions(kind, 9, 4);
    randomize(*positions);
    Tape tape;
    const Tensor whole = positions->forward(tape, zeros({1, 9, 4}), 0).value();
    const Tensor part = positions->forward(tape, zeros({1, 2, 4}), 6).value();
    for (std::size_t i = 0; i < part.size(); ++i)
      EXPECT_EQ(part.data()[i], whole.data()[6 * 4 + i]);
  }
}

TEST(Positions, SinusoidalOnesFollowTheirFormula) {
  Tape tape;
  const Tensor y = SinusoidalPositions().forward(tape, zeros({1, 1, 6}), 1000).value();
  for (std::size_t pair = 0; pair < 3; ++pair) {
    const double phase = 1000 / std::pow(10000.0, double(pair) / 3);
    EXPECT_NEAR(double(y.data()[2 * pair]), std::sin(phase), is_double ? 1e-12 : 1e-6);
    EXPECT_NEAR(double(y.data()[2 * pair + 1]), std::cos(phase), is_double ? 1e-12 : 1e-6);
  }
}

TEST(Positions, LearnedOnesEnd) {
  LearnedPositions positions(5, 4);
  Tape tape;
  EXPECT_EQ(op_check::error_of([&] {
              positions.forward(tape, zeros({1, 3, 4}), 3);
            }),
            "[learned_positions] position 5 is beyond the 5 trained ones");
  EXPECT_EQ(op_check::error_of([] { make_positions("absolute", 5, 4); }),
            "[positions] unknown positions \"absolute\"; choose learned, sinusoidal, "
            "rotary, none");
}

}  // namespace positions_test
}  // namespace bochner::inline BOCHNER_PRECISION

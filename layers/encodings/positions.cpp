#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

LearnedPositions::LearnedPositions(std::size_t length, std::size_t width)
    : weight_({length, width}, Initial::normal(0.02)) {}

Var LearnedPositions::forward(Tape& tape, const Var& x, std::size_t first) {
  require(first + x.dim(1) <= limit(), "learned_positions", "position ", first + x.dim(1) - 1,
          " is beyond the ", limit(), " trained ones");
  const Var table = tape(weight_);
  const bool whole = first == 0 && x.dim(1) == limit();
  return x + (whole ? table : slice(table, 0, first, first + x.dim(1)));
}

Var SinusoidalPositions::forward(Tape& tape, const Var& x, std::size_t first) {
  const std::size_t T = x.dim(1), D = x.dim(2);
  Tensor table = uninitialized({T, D});
  for (std::size_t t = 0; t < T; ++t) {
    for (std::size_t i = 0; i < D; ++i) {
      const double phase = double(first + t) * std::pow(10000.0, -double(i / 2 * 2) / double(D));
      table.data()[t * D + i] = real(i % 2 == 0 ? std::sin(phase) : std::cos(phase));
    }
  }
  return x + tape.constant(std::move(table));
}

std::unique_ptr<PositionEncoding> make_positions(const std::string& kind, std::size_t length,
                                                 std::size_t width) {
  if (kind == "learned") return std::make_unique<LearnedPositions>(length, width);
  if (kind == "sinusoidal") return std::make_unique<SinusoidalPositions>();
  require(kind == "rotary" || kind == "none", "positions", "unknown positions \"", kind,
          "\"; choose learned, sinusoidal, rotary, none");
  return nullptr;
}

}  // namespace bochner::inline BOCHNER_PRECISION

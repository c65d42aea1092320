#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Dropout mask, a function of the element index, so that the backward pass redraws it. Element i
/// is dropped if word i % 4 of block i / 4 is below rate 2^32.
struct Mask {
  RandomFunction random;
  std::uint32_t threshold;
  real factor;

  void apply(const real* from, real* to, std::size_t begin, std::size_t end) const {
    constexpr std::size_t block = 1024;
    std::uint32_t word[block];
    for (std::size_t first = begin; first < end; first += block) {
      const std::size_t count = std::min(block, end - first);
      random.fill_bits(first / 4, ceil_div(count, 4), word);
      drop(word, from + first, to + first, count);
    }
  }

  void drop(const std::uint32_t* word, const real* from, real* to, std::size_t n) const {
    const std::uint32_t limit = threshold;
    const real scale = factor;
    for (std::size_t i = 0; i < n; ++i) {
      const real kept = scale * from[i];
      to[i] = word[i] < limit ? real(0) : kept;
    }
  }

  void apply(const real* from, real* to, std::size_t n) const {
    static_assert(elementwise_unit % 4 == 0, "chunks begin with a block");
    parallel_for(n, elementwise_grain(n),
                 [&](std::size_t begin, std::size_t end) { apply(from, to, begin, end); });
  }
};

Var masked(const Var& x, const Mask& mask) {
  Tensor y = uninitialized(x.shape());
  mask.apply(x.data(), y.data(), y.size());
  return record("dropout", std::move(y), {x},
                [x = x.gradient_only(), mask](Tensor& g) {
                  mask.apply(g.data(), g.data(), g.size());
                  x.add_gradient(std::move(g));
                },
                {{x, [&](const Var& d) { return masked(d, mask); }, TangentRule::linear}});
}

}  // namespace

Var dropout(Tape& tape, const Var& x, real rate) {
  require(rate >= 0 && rate < 1, "dropout", "rate must be in [0, 1): ", rate);
  if (!tape.training || rate == 0) return x;
  return masked(x, {tape.next_random(Purpose::dropout), std::uint32_t(double(rate) * 0x1p32),
                    1 / (1 - rate)});
}

}  // namespace bochner::inline BOCHNER_PRECISION

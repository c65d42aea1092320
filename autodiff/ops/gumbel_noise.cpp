#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Var gumbel_noise(Tape& tape, const Shape& shape) {
  const RandomFunction random = tape.next_random(Purpose::sampling);
  Tensor noise = uninitialized(shape);
  parallel_each(noise.size(), 4096, [&, to = noise.data()](std::size_t i) {
    to[i] = real(-std::log(-std::log(random.uniform(i))));
  });
  return tape.constant(std::move(noise));
}

}  // namespace bochner::inline BOCHNER_PRECISION

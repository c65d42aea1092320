#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>
#include <complex>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Complex = std::complex<double>;

/// Below it, the first terms of the series have all digits of a double.
constexpr double near_zero = 0.01;

/// Returns e^z - 1 without cancellation near z = 0.
Complex exponential_less_one(const Complex& z) {
  const double half_sine = std::sin(z.imag() / 2), size = std::exp(z.real());
  return {std::expm1(z.real()) - 2 * size * half_sine * half_sine, size * std::sin(z.imag())};
}

Complex held(const Complex& z) {
  if (std::abs(z) < near_zero)
    return 1. + z / 2. * (1. + z / 3. * (1. + z / 4. * (1. + z / 5. * (1. + z / 6.))));
  return exponential_less_one(z) / z;
}

/// Returns (e^z - held(z)) / z.
Complex derivative_of_held(const Complex& z) {
  if (std::abs(z) < near_zero)
    return 1. / 2 + z * (1. / 3 + z * (1. / 8 + z * (1. / 30 + z * (1. / 144 + z / 840.))));
  const Complex less_one = exponential_less_one(z);
  return (1. + less_one - less_one / z) / z;
}

/// Calls body(z, index of its real part) for each number; imaginary parts are n elements later.
template <class Body>
void for_numbers(const Tensor& z, std::size_t n, const Body& body) {
  parallel_rows(z.size() / (2 * n), 64 * n, [&](std::size_t row) {
    for (std::size_t i = row * 2 * n; i < row * 2 * n + n; ++i)
      body(Complex(double(z.data()[i]), double(z.data()[i + n])), i);
  });
}

}  // namespace

Var zero_order_hold(const Var& z) {
  require(z.rank() >= 1 && z.dim(-1) % 2 == 0, "zero_order_hold",
          "the last axis must hold as many imaginary as real parts: z ", z.shape());
  const std::size_t n = std::max<std::size_t>(1, z.dim(-1) / 2);
  Tensor y = uninitialized(z.shape());
  for_numbers(z.value(), n, [&](const Complex& number, std::size_t i) {
    const Complex result = held(number);
    y.data()[i] = real(result.real()), y.data()[i + n] = real(result.imag());
  });
  return record("zero_order_hold", std::move(y), {z}, [z, n](Tensor& g) {
    for_numbers(z.value(), n, [&](const Complex& number, std::size_t i) {
      const Complex gradient = Complex(double(g.data()[i]), double(g.data()[i + n])) *
                               std::conj(derivative_of_held(number));
      g.data()[i] = real(gradient.real()), g.data()[i + n] = real(gradient.imag());
    });
    z.add_gradient(std::move(g));
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION

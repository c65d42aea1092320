#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/base/numeric/spreading_kernel.hpp>
#include <bochner/base/shape.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace {

using std::numbers::pi;

/// Scales the width that puts the first alias of the last node at the edge of the transform's main
/// lobe; makes the largest alias ten times smaller.
constexpr double narrower = 0.98;
/// Further aliases decay like their number to the power -3/2.
constexpr int max_aliases = 40;

}  // namespace

SpreadingKernel::SpreadingKernel(std::size_t nodes, std::size_t width, double oversampling)
    : nodes_(nodes),
      width_(width),
      fine_(fast_fft_size(std::max(std::size_t(std::ceil(oversampling * double(nodes))), width))) {
  require(width >= 2 && oversampling > 1, "spreading_kernel", "width must be at least 2 and ",
          "oversampling above 1, not ", width, " and ", oversampling);
  beta_ = narrower * pi * double(width) * (1 - double(nodes) / (2 * double(fine_)));
}

double SpreadingKernel::value(double z) const {
  return std::sinh(beta_ * std::sqrt(std::max(0.0, 1 - z * z))) / std::sinh(beta_);
}

/// Returns the kernel's Fourier transform at k turns over the finer grid, in units of its spacing:
/// pi beta I_1(r) / r / sinh(beta), r^2 = beta^2 - v^2, J_1 beyond.
double SpreadingKernel::transform(double k) const {
  const double v = pi * double(width_) * k / double(fine_), square = beta_ * beta_ - v * v;
  const double r = std::sqrt(std::abs(square));
  const double bessel = r < 1e-6     ? 0.5
                        : square > 0 ? special::bessel_i(1, r) / r
                                     : special::bessel_j(1, r) / r;
  return double(width_) / 2 * pi * beta_ * bessel / std::sinh(beta_);
}

double SpreadingKernel::error_bound() const {
  double largest = 0;
  for (std::size_t i = 0; i <= nodes_ / 2; ++i) {
    double aliases = 0;
    for (int p = 1; p <= max_aliases; ++p) {
      for (const int sign : {1, -1})
        aliases += std::abs(transform(double(i) + double(sign * p) * double(fine_)));
    }
    largest = std::max(largest, aliases / transform(double(i)));
  }
  return largest;
}

}  // namespace bochner

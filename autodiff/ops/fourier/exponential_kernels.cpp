#include <bochner/autodiff/compute/exponential_kernels.hpp>
#include <bochner/autodiff/ops/recurrence/long_convolution.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Var exponential_kernels(const Var& rate, const Var& frequency, const Var& cosine, const Var& sine,
                        std::size_t count, bool descending) {
  const Shape& shape = rate.shape();
  require(shape.size() == 2 && frequency.shape() == shape && cosine.shape() == shape &&
              sine.shape() == shape,
          "exponential_kernels", "needs four arrays (C, N): ", shape, ", ", frequency.shape(), ", ",
          cosine.shape(), ", ", sine.shape());
  const auto waves_of = [=] {
    return ExponentialKernels{shape[0],         shape[1],      rate.data(),
                              frequency.data(), cosine.data(), sine.data()};
  };
  Tensor y = zeros({count, shape[0]});
  sum_exponential_kernels(waves_of(), count, descending, y.data());
  return record(
      "exponential_kernels", std::move(y), {rate, frequency, cosine, sine}, [=](Tensor& g) {
        Tensor re = zeros(shape), im = zeros(shape), lag_re = zeros(shape), lag_im = zeros(shape);
        wave_moments(waves_of(), count, descending, g.data(),
                     {re.data(), im.data(), lag_re.data(), lag_im.data()});
        const Tensor &a = cosine.value(), &b = sine.value();
        rate.add_gradient(-(a * lag_re + b * lag_im));
        frequency.add_gradient(b * lag_re - a * lag_im);
        cosine.add_gradient(std::move(re));
        sine.add_gradient(std::move(im));
      });
}

}  // namespace bochner::inline BOCHNER_PRECISION

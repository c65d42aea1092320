#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/optim/natural_gradient.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::string_view mean_name = ".mean", log_scale_name = ".log_scale";

}  // namespace

Parameter* log_scale_of(const NamedParameter& mean, const std::vector<NamedParameter>& all) {
  if (!mean.name.ends_with(mean_name)) return nullptr;
  const std::string wanted =
      mean.name.substr(0, mean.name.size() - mean_name.size()).append(log_scale_name);
  const auto found = std::ranges::find(all, wanted, &NamedParameter::name);
  const bool fits = found != all.end() && found->parameter->shape() == mean.parameter->shape();
  return fits ? found->parameter : nullptr;
}

NaturalGradient::NaturalGradient(const std::vector<NamedParameter>& parameters) {
  for (const NamedParameter& named : parameters) {
    Parameter* log_scale = log_scale_of(named, parameters);
    if (!log_scale) continue;
    pair_of_[named.parameter] = pair_of_[log_scale] = pairs_.size();
    pairs_.push_back({{named.parameter, {}, {}}, {log_scale, {}, {}}, zeros(log_scale->shape())});
  }
  require(!pairs_.empty(), "optim",
          "density_natural = true needs a spectral density with a mean and a log_scale, as "
          "gaussian has");
}

void NaturalGradient::begin() {
  for (Pair& pair : pairs_) {
    pair.mean.unit = xt::exp(pair.log_scale.parameter->value());
    pair.log_scale.unit = filled(pair.log_scale.parameter->shape(), real(1 / std::numbers::sqrt2));
    const std::size_t H = pair.root.shape()[0], n = pair.root.size() / H;
    std::vector<double> squares(H);
    for (Side* side : {&pair.mean, &pair.log_scale}) {
      side->before = side->parameter->value();
      if (!side->parameter->has_gradient()) continue;
      Tensor& gradient = side->parameter->gradient();
      gradient *= side->unit;
      for (std::size_t h = 0; h < H; ++h)
        squares[h] += sum_of_squares(gradient.data() + h * n, n) / double(2 * n);
    }
    for (std::size_t h = 0; h < H; ++h)
      std::fill_n(pair.root.data() + h * n, n, real(std::sqrt(squares[h])));
  }
}

void NaturalGradient::end() {
  for (Pair& pair : pairs_)
    for (Side* side : {&pair.mean, &pair.log_scale}) {
      Tensor& value = side->parameter->value();
      value = side->before + side->unit * (value - side->before);
    }
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/optim/natural_gradients.hpp>
#include <bochner/optim/optimizer.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::string_view mean_name = ".mean", log_scale_name = ".log_scale";

constexpr std::string_view factor_name = "posterior.factor";

std::string prefix_of(const std::string& factor) {
  return factor.substr(0, factor.size() - factor_name.size());
}

/// Returns whether the parameter belongs to a posterior, as its numbers or its factor.
bool has_posterior(const std::string& name, const std::vector<NamedParameter>& all) {
  return std::ranges::any_of(all, [&](const NamedParameter& other) {
    return other.name.ends_with(factor_name) && name.starts_with(prefix_of(other.name));
  });
}

/// Throws unless all `parts` have the learning-rate factor of `all[one]`.
void require_one_factor(const std::vector<NamedParameter>& all,
                        const std::vector<double>& lr_factors, std::size_t one,
                        const std::vector<Parameter*>& parts) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::ranges::count(parts, all[i].parameter) == 0) continue;
    require(lr_factors[i] == lr_factors[one], "optim.groups", all[i].name,
            " has lr_factor = ", lr_factors[i], " and ", all[one].name, " has ", lr_factors[one],
            "; kind = \"natural\" updates them as one Gaussian: give them equal factors");
  }
}

/// Concatenates the values of some parameters, or their gradients.
std::vector<double> numbers_of(const std::vector<Parameter*>& parameters, bool gradients) {
  std::vector<double> all;
  for (Parameter* parameter : parameters) {
    if (gradients && !parameter->has_gradient())
      all.resize(all.size() + parameter->value().size());
    else
      for (const real value : gradients ? parameter->gradient() : parameter->value())
        all.push_back(double(value));
  }
  return all;
}

/// Returns L from its stored factor, which holds the logarithm of the diagonal and zeros above.
std::vector<double> lower_of(std::vector<double> factor, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    factor[i * n + i] = std::exp(factor[i * n + i]);
    std::fill_n(factor.begin() + std::ptrdiff_t(i * n + i + 1), n - i - 1, 0.);
  }
  return factor;
}

/// Returns C^-1, lower triangle, and ln det B of B = C^T C, by a Cholesky factor of B in reverse
/// order. Throws NotPositiveDefinite.
std::vector<double> inverse_factor(std::size_t n, std::vector<double> b, double* log_determinant) {
  std::reverse(b.begin(), b.end());  // reversed rows and columns: J B J = K K^T with C = J K^T J
  cholesky(n, b.data());
  *log_determinant = log_determinant_of_factor(n, b.data());
  std::vector<double> inverse(n * n), flipped(n * n);
  for (std::size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  solve_lower(n, b.data(), n, inverse.data());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) flipped[i * n + j] = inverse[(n - 1 - j) * n + n - 1 - i];
  return flipped;
}

double squares_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return sum;
}

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

GaussianSteps::GaussianSteps(const std::vector<NamedParameter>& parameters,
                             const std::vector<double>& lr_factors, const NaturalSpec& spec,
                             double of_posteriors)
    : spec_(spec) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, parameter] = parameters[i];
    if (name.ends_with(factor_name)) add_posterior(parameters, i, lr_factors, of_posteriors);
    if (!is_density(name) || has_posterior(name, parameters)) continue;
    Parameter* log_scale = log_scale_of(parameters[i], parameters);
    if (!log_scale) continue;
    require_one_factor(parameters, lr_factors, i, {log_scale});
    all_.push_back({{parameter}, log_scale, lr_factors[i], 1, false});
  }
  require(!all_.empty(), "optim",
          "kind = \"natural\" needs a Gaussian: a spectral density with a posterior "
          "(density.posterior), or with a mean and a log_scale, as gaussian has");
}

void GaussianSteps::add_posterior(const std::vector<NamedParameter>& all, std::size_t factor,
                                  const std::vector<double>& lr_factors, double times) {
  const std::string prefix = prefix_of(all[factor].name);
  Parameter* root = all[factor].parameter;
  Gaussian one{{}, root, lr_factors[factor], times, root->shape().size() == 2};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != factor && all[i].name.starts_with(prefix)) one.means.push_back(all[i].parameter);
  require_one_factor(all, lr_factors, factor, one.means);
  const std::size_t n = numbers_of(one.means, false).size();
  require(one.factor->value().size() == (one.is_full ? n * n : n), "optim", all[factor].name, " ",
          one.factor->shape(), " does not fit the ", n, " numbers below ", prefix);
  all_.push_back(std::move(one));
}

GaussianSteps::Slopes GaussianSteps::slopes_of(const Gaussian& one) const {
  Slopes slopes{numbers_of(one.means, true), numbers_of({one.factor}, true)};
  for (double& slope : slopes.mean) slope *= one.times;
  for (double& slope : slopes.spread) slope *= one.times;
  if (!one.is_full) return slopes;  // by ln L_ii, which is M_ii
  const std::size_t n = slopes.mean.size();
  const std::vector<double> lower = lower_of(numbers_of({one.factor}, false), n);
  std::vector<double> by_lower = std::move(slopes.spread);
  for (std::size_t i = 0; i < n; ++i) {
    by_lower[i * n + i] /= lower[i * n + i];
    std::fill_n(by_lower.begin() + std::ptrdiff_t(i * n + i + 1), n - i - 1, 0.);
  }
  // The gradient by the lower triangle of L is that of 2 dloss/dS L; the missing upper triangle
  // adds nothing to the lower triangle of the symmetric M.
  slopes.spread.assign(n * n, 0);
  multiply(n, n, n, lower.data(), true, by_lower.data(), 0, slopes.spread.data());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) slopes.spread[j * n + i] = slopes.spread[i * n + j];
  return slopes;
}

bool GaussianSteps::move_diagonal(Gaussian& one, const Slopes& slopes, double size) const {
  one.mean = numbers_of(one.means, false), one.root = numbers_of({one.factor}, false);
  double divergence = 0;
  for (std::size_t i = 0; i < one.mean.size(); ++i) {
    const double ratio = 1 + size * slopes.spread[i];  // ratio of the precisions
    if (!(ratio > 0)) return false;
    const double variance = std::exp(2 * one.root[i]);
    const double moved = size * slopes.mean[i] / (ratio / variance + spec_.damping);
    divergence += (1 / ratio - 1 + std::log(ratio) + moved * moved / variance) / 2;
    one.mean[i] -= moved;
    one.root[i] -= std::log(ratio) / 2;
  }
  return divergence <= spec_.trust;
}

bool GaussianSteps::move_full(Gaussian& one, const Slopes& slopes, double size) const {
  const std::size_t n = slopes.mean.size();
  const std::vector<double> lower = lower_of(numbers_of({one.factor}, false), n);
  std::vector<double> ratio = slopes.spread;  // L^T S'^-1 L
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) ratio[i * n + j] = size * ratio[i * n + j] + double(i == j);
  double divergence = -double(n), log_determinant = 0;
  std::vector<double> inverse;
  try {
    inverse = inverse_factor(n, std::move(ratio), &log_determinant);
  } catch (const NotPositiveDefinite&) {
    return false;
  }
  divergence += squares_of(inverse) + log_determinant;
  one.root.assign(n * n, 0);  // L' = L C^-1
  multiply(n, n, n, lower.data(), false, inverse.data(), 0, one.root.data());
  std::vector<double> moved(n), damped(n * n);
  multiply(n, 1, n, one.root.data(), true, slopes.mean.data(), 0, moved.data());
  if (spec_.damping > 0) {  // S' becomes L' (I + damping L'^T L')^-1 L'^T
    multiply(n, n, n, one.root.data(), true, one.root.data(), 0, damped.data());
    for (std::size_t i = 0; i < n * n; ++i)
      damped[i] = spec_.damping * damped[i] + double(i % (n + 1) == 0);
    cholesky(n, damped.data());
    solve_lower(n, damped.data(), 1, moved.data());
    solve_lower_transposed(n, damped.data(), 1, moved.data());
  }
  std::vector<double> step(n), whitened(n);
  multiply(n, 1, n, one.root.data(), false, moved.data(), 0, step.data());
  multiply(n, 1, n, inverse.data(), false, moved.data(), 0, whitened.data());
  divergence += size * size * squares_of(whitened);
  one.mean = numbers_of(one.means, false);
  for (std::size_t i = 0; i < n; ++i) {
    one.mean[i] -= size * step[i];
    one.root[i * n + i] = std::log(one.root[i * n + i]);
  }
  return divergence / 2 <= spec_.trust;
}

void GaussianSteps::begin(double size) {
  for (Gaussian& one : all_) {
    one.moves = one.factor->has_gradient() && one.lr_factor > 0 && size > 0;
    if (!one.moves) continue;
    const Slopes slopes = slopes_of(one);
    const auto reach = [&](double part) {
      return one.is_full ? move_full(one, slopes, part) : move_diagonal(one, slopes, part);
    };
    double part = size * one.lr_factor;
    for (int halvings = 0; !reach(part); ++halvings, part /= 2) {
      if (halvings < 200) continue;
      one.mean = numbers_of(one.means, false), one.root = numbers_of({one.factor}, false);
      break;
    }
  }
}

void GaussianSteps::end() {
  const auto write = [](Parameter& parameter, const double* from) {
    for (real& value : parameter.value()) value = real(*from++);
  };
  for (Gaussian& one : all_) {
    if (!one.moves) continue;
    const double* from = one.mean.data();
    for (Parameter* mean : one.means) {
      write(*mean, from);
      from += mean->value().size();
    }
    write(*one.factor, one.root.data());
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION

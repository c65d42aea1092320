#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/layers/gaussian_processes/process_start.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_compared_rows = 256, most_fitted_rows = 512, best_starts = 3;
/// Log likelihood by which a fit must exceed that from noise alone: a kernel much narrower than the
/// distances of rows equals noise.
constexpr double needed_gain = 2;
constexpr int compared_steps = 30, fitted_steps = 60;  // evaluations of L-BFGS

/// Random subset of rows, for repeated likelihoods.
struct SampledRows {
  std::vector<std::vector<double>> inputs;
  std::vector<double> targets;
  ProcessRows view() const { return {inputs, targets}; }
};
SampledRows sampled_rows(const ProcessRows& rows, std::size_t most, std::uint64_t seed) {
  std::vector<std::size_t> order =
      Draws({seed, Purpose::spectral, stream_of("start")}).shuffled(rows.size());
  order.resize(std::min(order.size(), most));
  SampledRows some{std::vector<std::vector<double>>(rows.inputs.size()), {}};
  for (const std::size_t row : order) {
    for (std::size_t j = 0; j < rows.inputs.size(); ++j)
      some.inputs[j].push_back(rows.inputs[j][row]);
    some.targets.push_back(rows.targets[row]);
  }
  return some;
}

/// Values of all parameters, in visiting order.
std::vector<double> values_of(const std::vector<NamedParameter>& parameters) {
  std::vector<double> x;
  for (const NamedParameter& each : parameters)
    x.insert(x.end(), each.parameter->value().begin(), each.parameter->value().end());
  return x;
}

void assign(const std::vector<NamedParameter>& parameters, const std::vector<double>& x) {
  auto from = x.begin();
  for (const NamedParameter& each : parameters)
    for (real& element : each.parameter->value()) element = real(*from++);
}

/// Returns -ln p(targets) and its gradient; infinity if the covariance is singular.
double cost(GaussianProcess& process, const std::vector<NamedParameter>& parameters,
            const ProcessRows& rows, std::vector<double>* gradient) try {
  Tape tape({.recording = gradient != nullptr});
  const Var loss = -process.log_likelihood(tape, rows);
  const auto value = double(loss.value().data()[0]);
  if (!gradient) return value;
  for (const NamedParameter& each : parameters) each.parameter->zero_gradient();
  tape.backward(loss);
  auto to = gradient->begin();
  for (const NamedParameter& each : parameters) {
    const std::size_t n = each.parameter->value().size();
    if (each.parameter->has_gradient()) std::copy_n(each.parameter->gradient().data(), n, to);
    each.parameter->zero_gradient();
    to += std::ptrdiff_t(n);
  }
  return value;
} catch (const std::domain_error&) {
  return std::numeric_limits<double>::infinity();
}

/// Minimises cost() from `x` by L-BFGS, within a factor of e^8 of each parameter, and of 3e-4 and 3
/// for the deviation of the noise, or of 1e-2 and 3 where conjugate gradients must see it in float.
Minimum fitted(GaussianProcess& process, const ProcessRows& rows, std::vector<double> x,
               int evaluations) {
  constexpr double farthest = 8, steepness = 0.02;
  const double least_noise = process.spec().method == "cg" ? 1e-2 : 3e-4;
  const std::vector<NamedParameter> parameters = parameters_of(process);
  std::vector<double> low, high;
  for (const NamedParameter& each : parameters)
    for (std::size_t i = 0; i < each.parameter->value().size(); ++i) {
      const bool is_noise = each.name == "log_noise";
      const double at = x[low.size()];
      low.push_back(is_noise ? std::min(at, std::log(least_noise)) : at - farthest);
      high.push_back(is_noise ? std::max(at, std::log(3.0)) : at + farthest);
    }
  const auto f = [&](const std::vector<double>& at, std::vector<double>& gradient) {
    assign(parameters, at);
    return cost(process, parameters, rows, &gradient);
  };
  return minimise_in_box(f, std::move(x), low, high, steepness, evaluations);
}

}  // namespace

/// Searches scales, noise and variances: the likelihood has several maxima, and gradients find the
/// nearest one, which may explain all as noise if rows are few, waves many or the noise large. Fits
/// the likeliest starts of a grid, and "all is noise", to some rows, and the best of them to more.
void GaussianProcess::start_by_search(const ProcessRows& rows,
                                      const std::vector<double>& log_scales) {
  const std::vector<NamedParameter> all = parameters_of(*this);
  const SampledRows few = sampled_rows(rows, most_compared_rows, spec_.density.seed),
                    more = sampled_rows(rows, most_fitted_rows, spec_.density.seed);
  std::vector<Minimum> starts;
  const auto begin = [&](double scale_factor, double noise) {
    std::vector<double> scales = log_scales;
    for (double& scale : scales) scale += std::log(scale_factor);
    density_->init_log_scale(scales);
    log_noise_.value().fill(real(std::log(noise)));
    starts.push_back({values_of(all), cost(*this, all, few.view(), nullptr)});
  };
  for (const double scale_factor : {1.0 / 3, 1.0, 3.0, 10.0, 30.0})
    for (const double noise : {spec_.noise, 5 * spec_.noise, 1.0}) begin(scale_factor, noise);
  std::ranges::stable_sort(starts, {}, &Minimum::value);
  starts.resize(best_starts);
  init_variances({0.01, 1});
  begin(1, 1);
  for (Minimum& start : starts)
    start = fitted(*this, few.view(), std::move(start.x), compared_steps);
  starts.back().value -= needed_gain;
  const auto best = std::ranges::min_element(starts, {}, &Minimum::value);
  assign(all, fitted(*this, more.view(), std::move(best->x), fitted_steps).x);
}

void GaussianProcess::refine(const ProcessRows& rows, int evaluations) {
  const SampledRows some = sampled_rows(rows, most_fitted_rows, spec_.density.seed);
  const std::vector<NamedParameter> all = parameters_of(*this);
  assign(all, fitted(*this, some.view(), values_of(all), evaluations).x);
}

}  // namespace bochner::inline BOCHNER_PRECISION

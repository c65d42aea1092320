#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <bochner/layers/gaussian_processes/process_start.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::vector<std::vector<std::size_t>> terms_of(const GaussianProcessSpec& spec) {
  std::vector<std::vector<std::size_t>> terms;
  if (spec.combine != "sum") {
    terms.emplace_back();
    for (std::size_t j = 0; j < spec.inputs; ++j) terms.back().push_back(j);
  }
  if (spec.combine != "product")
    for (std::size_t j = 0; j < spec.inputs; ++j) terms.push_back({j});
  return terms;
}

GaussianProcessSpec with_density_sizes(GaussianProcessSpec spec) {
  require(spec.inputs >= 1, "gaussian_process", "inputs must be at least 1");
  spec.density.heads = 0;
  for (const auto& term : terms_of(spec)) spec.density.heads += term.size();
  spec.density.dim = 1;
  if (spec.method != "features" && spec.density.kind != "free") spec.density.m = 1;  // unused
  return spec;
}

std::size_t trend_size(const GaussianProcessSpec& spec) {
  return spec.trend == "none" ? 0 : spec.trend == "constant" ? 1 : 1 + spec.inputs;
}

/// Removes the density's prior; log_prior() has one of the log scales instead.
DensitySpec without_prior(DensitySpec spec) {
  require(spec.posterior == "none", "gaussian_process",
          "density.posterior is not supported: it is drawn per batch; set density.prior instead");
  spec.prior = 0;
  return spec;
}

/// Checks that curve() has a slope for each parameter that visit() names, in the same order.
void require_all_slopes(SpectralDensity& density, const DensitySpec& spec) {
  const std::size_t visited = count_parameters(density),
                    slopes = density.curve(0)->parameters() * spec.heads;
  require(slopes == visited, "gaussian_process", "curve() of the density \"", spec.kind,
          "\" has slopes by ", slopes, " numbers, but visit() names ", visited);
}

/// Returns a constant for empty parameters, which visit() does not name and a tape rejects.
Var variable_of(Tape& tape, Parameter& parameter) {
  return parameter.value().size() > 0 ? tape(parameter) : tape.constant(parameter.value());
}

std::vector<double> exponentials(const Parameter& logs) {
  std::vector<double> numbers;
  for (const real x : logs.value()) numbers.push_back(std::exp(double(x)));
  return numbers;
}

}  // namespace

GaussianProcess::GaussianProcess(const GaussianProcessSpec& spec)
    : spec_(with_density_sizes(checked("gaussian_process", spec))),
      terms_(terms_of(spec)),
      density_(make_density(without_prior(spec_.density))),
      log_variance_(filled({terms_.size()}, real(-std::log(double(terms_.size()))))),
      log_noise_(filled({1}, real(std::log(spec.noise)))),
      log_trend_(Shape{trend_size(spec)}) {
  require(
      spec_.method == "features" || density_->curve(0) != nullptr, "gaussian_process",
      "the density \"", spec_.density.kind,
      "\" has no kernel in closed form; use gaussian, student_t, cauchy, laplace, mixture or free, "
      "or set method = \"features\"");
  if (spec_.method != "features") require_all_slopes(*density_, spec_.density);
  require(spec_.density.prior == 0 || log_scale(), "gaussian_process", "the density \"",
          spec_.density.kind, "\" has no log scale for density.prior");
  if (spec_.density.prior > 0) prior_centre_ = log_scale()->value();
}

void GaussianProcess::visit(Visitor& visitor) {
  visitor("density", *density_);
  visitor("log_variance", log_variance_);
  visitor("log_noise", log_noise_);
  if (trend_size(spec_) > 0) visitor("log_trend", log_trend_);
  if (spec_.density.prior > 0) visitor("prior_centre", prior_centre_);
}

std::vector<double> GaussianProcess::variances() const { return exponentials(log_variance_); }
std::vector<double> GaussianProcess::trend_variances() const { return exponentials(log_trend_); }

/// Returns the parameters in the order of ProcessKernel.
std::vector<Parameter*> GaussianProcess::parameters() {
  std::vector<Parameter*> all;
  for (const NamedParameter& named : parameters_of(*density_)) all.push_back(named.parameter);
  all.insert(all.end(), {&log_variance_, &log_noise_, &log_trend_});
  return all;
}

std::vector<double> GaussianProcess::snapshot() {
  std::vector<double> numbers;
  for (const Parameter* parameter : parameters())
    numbers.insert(numbers.end(), parameter->value().begin(), parameter->value().end());
  return numbers;
}

std::shared_ptr<const ProcessKernel> GaussianProcess::kernel(const ProcessRows& rows) {
  require_rows(rows, spec_.inputs);
  const std::vector<double> variance = variances();
  std::vector<ProcessTerm> terms;
  for (std::size_t t = 0, head = 0; t < terms_.size(); ++t) {
    terms.push_back({variance[t], terms_[t], {}});
    for (std::size_t j = 0; j < terms_[t].size(); ++j)
      terms.back().curves.push_back(density_->curve(head++));
  }
  std::vector<std::size_t> sizes;
  for (const NamedParameter& named : parameters_of(*density_))
    sizes.push_back(named.parameter->value().size() / spec_.density.heads);
  return std::make_shared<ProcessKernel>(rows.inputs, std::move(terms), noise_variance(),
                                         trend_variances(), std::move(sizes));
}

/// Computes features. draws (H, m, 1)
std::shared_ptr<const ProcessFeatures> GaussianProcess::features(const ProcessRows& rows,
                                                                 const Var& draws) {
  require_rows(rows, spec_.inputs);
  return std::make_shared<ProcessFeatures>(
      rows.inputs,
      ProcessFeatures::Parameters{
          terms_, {draws.value().begin(), draws.value().end()}, variances(), trend_variances()});
}

Var GaussianProcess::log_likelihood(Tape& tape, const ProcessRows& rows) {
  return explain_singular(noise_variance(), spec_.method, [&]() -> Var {
    if (spec_.method == "features") {
      const Var draws = density_->draws(tape);
      return conjugate_log_likelihood({draws, tape(log_variance_), variable_of(tape, log_trend_)},
                                      tape(log_noise_), features(rows, draws), rows.targets,
                                      spec_.noise_shape);
    }
    std::vector<Var> inputs;
    for (Parameter* parameter : parameters()) inputs.push_back(variable_of(tape, *parameter));
    if (spec_.method == "cg")
      return iterative_log_likelihood(inputs, kernel(rows), rows.targets, spec_.cg);
    return gaussian_log_likelihood(inputs, kernel(rows), rows.targets);
  });
}

std::unique_ptr<ProcessPosterior> GaussianProcess::condition(const ProcessRows& rows) {
  using Posterior = std::unique_ptr<ProcessPosterior>;
  return explain_singular(noise_variance(), spec_.method, [&]() -> Posterior {
    if (spec_.method == "features") {
      Tape tape({.recording = false});
      auto now = features(rows, density_->draws(tape));
      const double noise = floored_noise(std::log(noise_variance()) / 2, rows.size());
      ConjugatePosterior posterior =
          conjugate_posterior(*now, rows.targets, noise, spec_.noise_shape);
      return feature_posterior(std::make_shared<ProcessFeatures>(now->of({})),
                               std::move(posterior));
    }
    auto now = kernel(rows);
    if (spec_.method == "cg") return iterative_posterior(now, rows.targets, spec_.cg);
    return exact_posterior(now, factored(*now, rows.targets));
  });
}

std::unique_ptr<KernelCurve> GaussianProcess::curve(std::size_t head) {
  if (auto closed = density_->curve(head)) return closed;
  Tape tape({.recording = false});
  const Tensor draws = density_->draws(tape).value();
  const std::size_t m = draws.shape()[1];
  return cosine_curve({draws.data() + head * m, draws.data() + (head + 1) * m});
}

/// Returns the log scales of the frequencies, or null.
Parameter* GaussianProcess::log_scale() {
  for (const NamedParameter& named : parameters_of(*density_))
    if (named.name == "log_scale") return named.parameter;
  return nullptr;
}

Var GaussianProcess::log_prior(Tape& tape) {
  if (spec_.density.prior == 0) return tape.constant(Tensor(Shape(), real(0)));
  const Var deviation = (tape(*log_scale()) - tape.constant(prior_centre_)) / spec_.density.prior;
  return sum(square(deviation)) * -0.5;
}

void GaussianProcess::start(const ProcessRows& rows) {
  require_rows(rows, spec_.inputs);
  start_density(rows);
  centre_prior();
}

void GaussianProcess::start_density(const ProcessRows& rows) {
  if (spec_.density.start == "none") return;
  std::vector<std::size_t> inputs;  // per head
  for (const auto& term : terms_) inputs.insert(inputs.end(), term.begin(), term.end());
  const std::uint64_t seed = spec_.density.seed;
  if (spec_.density.start == "periodogram")
    return init_from_periodogram(*density_, inputs, rows, seed);
  if (spec_.density.start == "em") return init_variances(init_by_em(*density_, inputs, rows, seed));
  const std::vector<double> log_scales = distance_log_scales(rows.inputs, inputs, seed);
  if (spec_.density.start == "search") return start_by_search(rows, log_scales);
  density_->init_log_scale(log_scales);
}

void GaussianProcess::init_variances(const ProcessVariances& variances) {
  constexpr double min_variance = 1e-6;  // relative to the targets' variance
  const double signal = std::max(variances.signal, min_variance) / double(terms_.size());
  log_variance_.value().fill(real(std::log(signal)));
  log_noise_.value().fill(real(std::log(std::max(variances.noise, min_variance)) / 2));
}

}  // namespace bochner::inline BOCHNER_PRECISION

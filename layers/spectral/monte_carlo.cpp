#include <bochner/autodiff/tensor.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/layers/spectral/importance_proposal.hpp>
#include <bochner/layers/spectral/monte_carlo.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Means of f and its control over one set of points, and their second moments.
struct SetSums {
  double f = 0, g = 0, gg = 0, fg = 0, effective = 0;
};

SetSums sums_of(const MonteCarlo& method, const Integrand& f, std::uint64_t set) {
  const std::size_t n = method.antithetic ? method.points / 2 : method.points, d = method.dim;
  const RandomFunction random{method.seed, Purpose::spectral, stream_of("monte carlo") + set};
  const Tensor z = base_draws(method.draws, 1, n, d, 0, random);
  const double log_scale = std::log(method.scale);
  SetSums sums;
  std::vector<double> point(d), log_weights;
  for (std::size_t i = 0; i < method.points; ++i) {
    const double sign = i < n ? 1 : -1;
    double square = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double noise = double(z.data()[i % n * d + j]);
      square += noise * noise;
      point[j] = sign * method.scale * noise;
    }
    log_weights.push_back((1 - method.scale * method.scale) * square / 2 + double(d) * log_scale);
    const double weight = std::exp(log_weights.back()) / double(method.points);
    const double value = f(point), control = method.control ? method.control(point) : 0;
    sums.f += weight * value, sums.g += weight * control;
    sums.gg += weight * control * control, sums.fg += weight * control * value;
  }
  sums.effective = effective_sample_size(log_weights);
  return sums;
}

}  // namespace

MonteCarloReport estimate(const MonteCarlo& method, const Integrand& f) {
  require(method.sets > 1 && method.dim > 0 && method.scale > 0, "monte_carlo",
          "sets = ", method.sets, ", dim = ", method.dim, ", scale = ", method.scale,
          " must be above 1, 0 and 0");
  require(method.points > 0 && (!method.antithetic || method.points % 2 == 0), "monte_carlo",
          "points = ", method.points, " must be above 0, and even if antithetic");
  std::vector<SetSums> all;
  SetSums total;
  const double S = double(method.sets);
  for (std::uint64_t set = 0; set < method.sets; ++set) {
    all.push_back(sums_of(method, f, set));
    total.f += all.back().f / S, total.g += all.back().g / S;
    total.gg += all.back().gg / S, total.fg += all.back().fg / S;
    total.effective += all.back().effective / S;
  }
  const double spread = total.gg - total.g * total.g;
  const double slope = method.control && spread > 0 ? (total.fg - total.f * total.g) / spread : 0;
  MonteCarloReport report{.effective_points = total.effective};
  std::vector<double> values;
  for (const SetSums& one : all) values.push_back(one.f - slope * (one.g - method.control_mean));
  for (const double value : values) report.mean += value / S;
  for (const double value : values)
    report.variance += std::pow(value - report.mean, 2) * double(method.points) / (S - 1);
  report.standard_error = std::sqrt(report.variance / double(method.points) / S);
  return report;
}

std::vector<NamedReport> compare_methods(const MonteCarlo& plain, const Integrand& f) {
  std::vector<NamedReport> reports;
  const auto add = [&](const char* name, const auto& change) {
    MonteCarlo method = plain;
    method.control = {}, method.scale = 1, method.antithetic = false, method.draws = "iid";
    change(method);
    reports.push_back({name, estimate(method, f)});
  };
  add("plain", [](MonteCarlo&) {});
  add("antithetic", [](MonteCarlo& method) { method.antithetic = true; });
  if (plain.control) add("control", [&](MonteCarlo& method) { method.control = plain.control; });
  if (plain.scale != 1) add("importance", [&](MonteCarlo& method) { method.scale = plain.scale; });
  add("quasi", [](MonteCarlo& method) { method.draws = "sobol_owen"; });
  return reports;
}

}  // namespace bochner::inline BOCHNER_PRECISION

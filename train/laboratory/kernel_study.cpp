#include <algorithm>
#include <bochner/autodiff/compute/eigen.hpp>
#include <bochner/train/laboratory/feature_matrix.hpp>
#include <bochner/train/laboratory/kernel_metrics.hpp>
#include <bochner/train/laboratory/kernel_study.hpp>
#include <bochner/train/laboratory/spectrum.hpp>
#include <bochner/train/laboratory/statistics.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t gram_points = 64;

bool is_standard(const FeatureSpec& spec) {
  return spec.density.kind == "gaussian" && spec.density.log_scale == 0;
}

void describe_sample(KernelStudy& study, const KernelSample& sample) {
  std::vector<double> exponents, norms;
  for (const SamplePair& pair : choose_pairs(sample, 2000)) {
    const auto [q, k] = rows_of(sample, pair);
    exponents.push_back(softmax_exponent(q, k));
    double norm = 0;
    for (std::size_t i = 0; i < q.size(); ++i) norm += (q[i] + k[i]) * (q[i] + k[i]);
    norms.push_back(norm / std::sqrt(double(q.size())));
  }
  study.log_kernel_spread = deviation_of(exponents);
  study.sum_norm = median(norms);
}

/// Asked of a small map: some kinds are expensive to make.
bool estimates_softmax(const FeatureSpec& spec, const KernelSample& sample) {
  const auto [q, k] = rows_of(sample, {0, 0, 0});
  const auto kernel = study_map(spec, sample.dim(), 4, 1)->kernel(q, k, 0);
  return kernel && is_near_softmax(*kernel, q, k);
}

/// All estimators of softmax's kernel on a part of the sample, by the distance of their attention.
std::vector<MapComparison> compare_maps(FeatureSpec spec, const KernelSample& sample,
                                        StudyOptions options) {
  options.m = {std::min<std::size_t>(options.m.back(), 256)};
  options.seeds = std::min<std::size_t>(options.seeds, 6);
  options.pairs = std::min<std::size_t>(options.pairs, 64);
  const KernelSample part = first_rows(sample, 128);
  std::vector<MapComparison> all;
  spec.weights = "none";
  for (const std::string& name : feature_maps().names()) {
    spec.kind = name;
    if (estimates_softmax(spec, part))
      all.push_back({name, study_estimator(spec, true, part, options).rows.back()});
  }
  std::sort(all.begin(), all.end(), [](const MapComparison& a, const MapComparison& b) {
    return a.result.attention < b.result.attention;
  });
  return all;
}

/// A query and keys of norm `norm` at `angles` angles from 0 to 180 degrees, all scaled by d^(1/4).
KernelSample circle(double norm, std::size_t d, std::size_t angles) {
  Tensor q = zeros({1, d}), k = zeros({angles, d});
  const double length = norm * std::pow(double(d), 0.25);
  q.data()[0] = real(length);
  for (std::size_t i = 0; i < angles; ++i) {
    const double angle = std::numbers::pi * double(i) / double(angles - 1);
    k.data()[i * d] = real(length * std::cos(angle));
    if (d > 1) k.data()[i * d + 1] = real(length * std::sin(angle));
  }
  return {"circle", {{q, k}}};
}

AngleCurve angle_curve(const FeatureSpec& spec, double norm, std::size_t d, std::size_t m) {
  constexpr std::size_t angles = 25, seeds = 64;
  const KernelSample sample = circle(norm, d, angles);
  std::vector<SamplePair> pairs;
  for (std::size_t i = 0; i < angles; ++i) pairs.push_back({0, 0, i});
  std::vector<double> squares(angles);
  AngleCurve curve{norm, {}, {}};
  for (std::size_t seed = 1; seed <= seeds; ++seed) {
    const auto map = study_map(spec, d, m, seed);
    const std::vector<double> values = estimates(*map, sample, pairs);
    for (std::size_t i = 0; i < angles; ++i) {
      const auto [q, k] = rows_of(sample, pairs[i]);
      const auto kernel = map->kernel(q, k, 0);
      if (!kernel) return curve;
      squares[i] += std::pow(values[i] / *kernel - 1, 2) / double(seeds);
      if (seed > 1) continue;
      curve.measured.x.push_back(180.0 * double(i) / double(angles - 1));
      if (const auto variance = map->variance(q, k, 0)) {
        curve.exact.x.push_back(curve.measured.x.back());
        curve.exact.y.push_back(std::sqrt(*variance) / *kernel);
      }
    }
  }
  for (const double square : squares) curve.measured.y.push_back(std::sqrt(square));
  return curve;
}

/// Of the estimated kernel on the first queries with themselves as keys.
Definiteness definiteness_on(const FeatureSpec& spec, const KernelSample& sample, std::size_t m) {
  const Tensor points = as_tokens(rows_from(sample.blocks.front().q, 0, gram_points));
  const auto map = study_map(spec, sample.dim(), m, 1);
  const HeadFeatures features = head_features(*map, points, points).front();
  return definiteness_of(products(features.q, features.k));
}

void study_spectrum(KernelStudy& study, DensitySpec spec, std::size_t m) {
  spec.heads = 1;
  spec.m = m;
  spec.dim = study.dim;
  const auto density = make_density(spec);
  const Tensor frequencies = frequencies_of(*density);
  const double reach = spectral_reach(frequencies);
  study.spectrum = spectrum_curve(frequencies, 0, -reach, reach);
  const double far = 4 / std::max(1e-12, bandwidth(frequencies));
  study.kernel_of_draws = kernel_of_draws(frequencies, 0, far);
  if (density->kernel(0)) study.kernel = kernel_curve(*density, frequencies, 0, far);
}

}  // namespace

Definiteness definiteness_of(const Tensor& gram) {
  const std::size_t n = gram.shape()[0];
  require(gram.dimension() == 2 && gram.shape()[1] == n, "definiteness", "of a ", gram.shape(),
          " array: it must be a square matrix");
  std::vector<double> symmetric(n * n);
  double odd = 0, even = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double a = double(gram.data()[i * n + j]), b = double(gram.data()[j * n + i]);
      symmetric[i * n + j] = (a + b) / 2;
      odd += (a - b) * (a - b);
      even += (a + b) * (a + b);
    }
  const std::vector<double> values = symmetric_eigen(symmetric, n).values;
  const double largest = std::max(std::fabs(values.front()), std::fabs(values.back()));
  return {largest > 0 ? values.front() / largest : 0, even > 0 ? std::sqrt(odd / even) : 0};
}

KernelStudy study_kernel(const FeatureSpec& spec, const KernelSample& sample,
                         const StudyOptions& options) {
  KernelStudy study{.features = spec.kind,
                    .density = spec.density.kind,
                    .draws = spec.density.draws,
                    .log_scale = spec.density.log_scale,
                    .sample = sample.name,
                    .dim = sample.dim(),
                    .seeds = options.seeds};
  const FeatureSpec standard = with_standard_frequencies(spec);
  describe_sample(study, sample);
  study.standard = study_estimator(standard, true, sample, options);
  if (!is_standard(spec)) study.configured = study_estimator(spec, false, sample, options);
  study.maps = compare_maps(standard, sample, options);
  for (const double norm : {0.5, 1.0, 1.5})
    study.angles.push_back(angle_curve(standard, norm, study.dim, options.m.back()));
  study.definiteness = definiteness_on(spec, sample, options.m.back());
  study_spectrum(study, spec.density, options.m.back());
  return study;
}

}  // namespace bochner::inline BOCHNER_PRECISION

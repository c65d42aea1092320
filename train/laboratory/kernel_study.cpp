#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/laboratory/feature_matrix.hpp>
#include <bochner/train/laboratory/kernel_metrics.hpp>
#include <bochner/train/laboratory/kernel_study.hpp>
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
    const auto q = row_of(sample.blocks[pair.block].q, pair.query);
    const auto k = row_of(sample.blocks[pair.block].k, pair.key);
    exponents.push_back(softmax_exponent(q, k));
    double norm = 0;
    for (std::size_t i = 0; i < q.size(); ++i) norm += (q[i] + k[i]) * (q[i] + k[i]);
    norms.push_back(norm / std::sqrt(double(q.size())));
  }
  double mean = 0, square = 0;
  for (const double one : exponents) mean += one / double(exponents.size());
  for (const double one : exponents) square += (one - mean) * (one - mean);
  study.log_kernel_spread = std::sqrt(square / double(exponents.size()));
  study.sum_norm = median(norms);
}

/// Asked of a small map: some kinds are expensive to make.
bool estimates_softmax(const FeatureSpec& spec, const KernelSample& sample) {
  const std::vector<double> q = row_of(sample.blocks.front().q, 0),
                            k = row_of(sample.blocks.front().k, 0);
  const auto kernel = study_map(spec, sample.dim(), 4, 1)->kernel(q, k, 0);
  return kernel && std::fabs(*kernel / std::exp(softmax_exponent(q, k)) - 1) < 1e-6;
}

/// All estimators of softmax's kernel on a part of the sample, by the distance of their attention.
std::vector<MapComparison> compare_maps(FeatureSpec spec, const KernelSample& sample,
                                        StudyOptions options) {
  options.m = {std::min<std::size_t>(options.m.back(), 256)};
  options.seeds = std::min<std::size_t>(options.seeds, 6);
  options.pairs = std::min<std::size_t>(options.pairs, 64);
  const KernelSample part = first_rows(sample, 128);
  std::vector<MapComparison> all;
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
      const auto q = row_of(sample.blocks[0].q, 0), k = row_of(sample.blocks[0].k, i);
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
  const Tensor& q = sample.blocks.front().q;
  const std::size_t n = std::min(gram_points, q.shape()[0]), d = q.shape()[1];
  Tensor points = uninitialized({1, n, 1, d});
  std::copy_n(q.data(), points.size(), points.data());
  Tape tape;
  tape.recording = false;
  const auto map = study_map(spec, d, m, 1);
  const Var x = tape.view(points);
  return definiteness_of(
      products(feature_matrix(map->queries(tape, x), 0), feature_matrix(map->keys(tape, x), 0)));
}

void study_spectrum(KernelStudy& study, std::size_t m) {
  DensitySpec spec = study.spec.density;
  spec.heads = 1;
  spec.m = m;
  spec.dim = study.dim;
  const auto density = make_density(spec);
  study.frequencies = frequencies_of(*density);
  const double reach = spectral_reach(study.frequencies);
  study.spectrum = spectrum_curve(study.frequencies, 0, -reach, reach);
  const double far = 4 / std::max(1e-12, bandwidth(study.frequencies));
  study.kernel_of_draws = kernel_of_draws(study.frequencies, 0, far);
  if (density->kernel(0)) study.kernel = kernel_curve(*density, study.frequencies, 0, far);
}

}  // namespace

KernelStudy study_kernel(const FeatureSpec& spec, const KernelSample& sample,
                         const StudyOptions& options) {
  KernelStudy study{
      .spec = spec, .sample = sample.name, .dim = sample.dim(), .seeds = options.seeds};
  const FeatureSpec standard = with_standard_frequencies(spec);
  describe_sample(study, sample);
  study.standard = study_estimator(standard, true, sample, options);
  if (!is_standard(spec)) study.configured = study_estimator(spec, false, sample, options);
  study.maps = compare_maps(standard, sample, options);
  for (const double norm : {0.5, 1.0, 1.5})
    study.angles.push_back(angle_curve(standard, norm, study.dim, options.m.back()));
  study.definiteness = definiteness_on(spec, sample, options.m.back());
  study_spectrum(study, options.m.back());
  return study;
}

std::string count_of_features(double m) {
  return m < 1e6 ? fmt::format("{:.0f}", m) : fmt::format("{:.1e}", m);
}

std::vector<std::string> advice(const KernelStudy& study, double wanted) {
  const ErrorAtM& last = study.standard.rows.back();
  std::vector<std::string> lines;
  if (!study.standard.has_closed_kernel) {
    lines.push_back(
        fmt::format("{} estimates no known kernel; error is against its own mean: {:.2g} at m = {}",
                    study.spec.kind, last.error, last.m));
    return lines;
  }
  const double expected = last.exact_error.value_or(last.error);
  lines.push_back(fmt::format("expected relative error {:.2g} at m = {}; m = {} needed for {:.2g}",
                              expected, last.m, count_of_features(study.standard.needed(wanted)),
                              wanted));
  if (!study.maps.empty() && study.maps.front().features != study.spec.kind) {
    const MapComparison& best = study.maps.front();
    lines.push_back(
        fmt::format("use features = \"{}\": its attention is {:.2f} from softmax at m = {}",
                    best.features, best.result.attention, best.result.m));
  }
  if (expected > 0.5)
    lines.push_back(fmt::format(
        "queries and keys are large (median |x + y|^2 = {:.3g}): divide them by {:.2g}, or learn "
        "the density so that short frequencies start the training",
        study.sum_norm, std::sqrt(study.sum_norm / std::log1p(double(last.m) * wanted * wanted))));
  if (is_skewed(last))
    lines.push_back(fmt::format(
        "so skewed that {} seeds do not show the tails: believe the closed forms", study.seeds));
  if (last.error < 0.8 * expected && !is_skewed(last))
    lines.push_back(fmt::format("draws = \"{}\" already save {:.0f} % of the error of iid draws",
                                study.spec.density.draws, 100 * (1 - last.error / expected)));
  return lines;
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/layers/features/exponential_moments.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <functional>
#include <numbers>

namespace bochner {
namespace {

constexpr std::size_t attention_rows = 128, gram_points = 64;

/// Sample to estimate on: its pairs, and softmax weights of the first rows of its blocks.
struct Question {
  const FeatureSpec& spec;
  bool standard;  ///< frequencies are from N(0, I), as closed forms assume
  const KernelSample& sample;
  std::vector<SamplePair> pairs;
  std::vector<Tensor> attention;
};

void require_numbers(const FeatureMatrix& features) {
  require(std::ranges::all_of(features.values, [](real x) { return !std::isnan(x); }), "features",
          "contain NaN, so their kernel is undefined");
}

std::vector<HeadFeatures> features_of(FeatureMap& map, const KernelSample& sample) {
  std::vector<HeadFeatures> blocks;
  for (const SampleBlock& block : sample.blocks) {
    blocks.push_back(std::move(head_features(map, as_tokens(block.q), as_tokens(block.k)).front()));
    require_numbers(blocks.back().q);
    require_numbers(blocks.back().k);
  }
  return blocks;
}

std::vector<double> pair_products(const std::vector<HeadFeatures>& blocks,
                                  const std::vector<SamplePair>& pairs) {
  std::vector<double> values;
  for (const SamplePair& pair : pairs) {
    const auto& [q, k] = blocks[pair.block];
    const std::size_t F = q.values.shape()[1];
    const double dot =
        double(dot_row(q.values.data() + pair.query * F, k.values.data() + pair.key * F, F));
    values.push_back(dot * std::exp(q.log_unit + k.log_unit));
  }
  return values;
}

FeatureMatrix first_rows(const FeatureMatrix& matrix) {
  return {rows_from(matrix.values, 0, attention_rows), matrix.log_unit};
}

double attention_distance(const std::vector<HeadFeatures>& blocks,
                          const std::vector<Tensor>& exact) {
  double sum = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Tensor weights =
        normalized_rows(products(first_rows(blocks[b].q), first_rows(blocks[b].k)));
    sum += std::min(1.0, total_variation(weights, exact[b])) / double(blocks.size());
  }
  return sum;
}

using PairFunction = std::optional<double> (FeatureMap::*)(Point, Point, std::size_t) const;

/// Returns a closed form of a map at all pairs, empty if it has none.
std::vector<double> closed_form(const Question& question, const FeatureMap& map,
                                PairFunction form) {
  std::vector<double> values;
  for (const SamplePair& pair : question.pairs) {
    const auto value = std::invoke(form, map, pair.q, pair.k, 0);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

/// Estimates of all seeds at one m: (seed, pair).
struct Measurement {
  std::size_t m, features;
  std::vector<std::vector<double>> values;
  /// Closed forms, the mean over the parameters of the seeds: (pair), empty without one.
  std::vector<double> variance = {};
  double attention = 0;
};

/// Adds the variances of one seed's map. All seeds have the same kernel, so the mean over them is
/// the variance over draws and parameters.
void add_variance(Measurement& measurement, const Question& question, const FeatureMap& map,
                  std::size_t seeds) {
  const std::vector<double> own = closed_form(question, map, &FeatureMap::variance);
  measurement.variance.resize(own.size());
  for (std::size_t p = 0; p < own.size(); ++p) measurement.variance[p] += own[p] / double(seeds);
}

Measurement measure(const Question& question, std::size_t m, std::size_t seeds) {
  Measurement measurement{m, 0, {}};
  for (std::size_t seed = 1; seed <= seeds; ++seed) {
    const auto map = calibrated_map(question.spec, question.sample.blocks.front(), m, seed);
    const std::vector<HeadFeatures> blocks = features_of(*map, question.sample);
    measurement.features = blocks.front().q.values.shape()[1];
    measurement.values.push_back(pair_products(blocks, question.pairs));
    measurement.attention += attention_distance(blocks, question.attention) / double(seeds);
    if (question.standard) add_variance(measurement, question, *map, seeds);
  }
  return measurement;
}

std::vector<double> pooled_mean(const std::vector<Measurement>& all, std::size_t pairs) {
  std::vector<double> mean(pairs);
  double weight = 0;
  for (const Measurement& one : all) {
    for (const auto& values : one.values) {
      for (std::size_t p = 0; p < pairs; ++p) mean[p] += double(one.m) * values[p];
      weight += double(one.m);
    }
  }
  for (double& value : mean) value /= weight;
  return mean;
}

/// Returns relative variances to weigh pairs by if the map has none in closed form: those of the
/// two classical estimators together, which are large wherever an estimator may be skewed.
std::vector<double> stand_in_variances(const std::vector<SamplePair>& pairs) {
  std::vector<double> variances;
  for (const SamplePair& one : pairs) {
    const ScaledPair pair(one.q, one.k);
    variances.push_back((positive_variance(pair) + trigonometric_variance(pair)) *
                        std::exp(-2 * pair.xy));
  }
  return variances;
}

/// Summarizes each pair over the seeds, relative to the kernel.
ErrorAtM summarize(const Measurement& measurement, const std::vector<double>& kernel,
                   const std::vector<double>& exact) {
  const std::size_t P = kernel.size(), S = measurement.values.size();
  ErrorAtM row{.m = measurement.m, .features = measurement.features};
  std::vector<double> variances(P), errors(P);
  for (std::size_t p = 0; p < P; ++p) {
    std::vector<double> deviations;
    for (const auto& values : measurement.values) deviations.push_back(values[p] / kernel[p] - 1);
    const double mean = mean_of(deviations), scatter = scatter_of(deviations);
    variances[p] = S > 1 ? scatter / double(S - 1) : 0;
    errors[p] = std::sqrt(mean * mean + scatter / double(S));
  }
  row.variance = median(variances);
  row.error = median(errors);
  row.error_low = quantile_of(errors, 0.25);
  row.error_high = quantile_of(errors, 0.75);
  row.attention = measurement.attention;
  if (exact.empty()) return row;
  row.exact_variance = median(exact);
  row.exact_error = std::sqrt(*row.exact_variance);
  return row;
}

bool is_near_softmax(double kernel, const SamplePair& pair) {
  return std::fabs(kernel / std::exp(softmax_exponent(pair.q, pair.k)) - 1) < 1e-6;
}

/// Largest exponent of softmax's kernel for which it and its inverse are finite.
constexpr double largest_exponent = 600;

/// Returns the largest |x|^2 / (2 sqrt(d)).
double largest_norm_exponent(const KernelSample& sample) {
  double largest = 0;
  for (const auto& [q, k] : sample.blocks) {
    for (const Tensor* rows : {&q, &k}) {
      for (std::size_t i = 0; i < rows->shape()[0]; ++i) {
        const std::vector<double> row = row_of(*rows, i);
        largest = std::max(largest, softmax_exponent(row, row) / 2);
      }
    }
  }
  return largest;
}

void describe_sample(KernelStudy& study, const KernelSample& sample) {
  std::vector<double> exponents, norms;
  for (const auto& [block, query, key, q, k] : choose_pairs(sample, 2000)) {
    exponents.push_back(softmax_exponent(q, k));
    double norm = 0;
    for (std::size_t i = 0; i < q.size(); ++i) norm += (q[i] + k[i]) * (q[i] + k[i]);
    norms.push_back(norm / std::sqrt(double(q.size())));
  }
  const auto [least, most] = std::ranges::minmax(exponents);
  require(std::max(-least, most) < largest_exponent, "kernel", sample.name,
          ": q.k/sqrt(d) reaches from ", least, " to ", most,
          ", and exp of it overflows; make queries and keys smaller");
  study.log_kernel_spread = deviation_of(exponents);
  study.largest_exponent = largest_norm_exponent(sample);
  study.exponent_bound = max_trigonometric_exponent();
  study.sum_norm = median(norms);
}

/// Whether the map estimates softmax's kernel; asks a small map, as some are expensive to make.
bool estimates_softmax(const FeatureSpec& spec, const KernelSample& sample) {
  const auto map = small_map(spec, sample.dim());
  if (!map) return false;
  const SamplePair pair = pair_of(sample, 0, 0, 0);
  const auto kernel = map->kernel(pair.q, pair.k, 0);
  return kernel && is_near_softmax(*kernel, pair);
}

/// Compares estimators of softmax's kernel on a part of the sample by their attention distance.
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
  std::ranges::sort(all, {}, [](const MapComparison& map) { return map.result.attention; });
  return all;
}

/// Returns a query and keys of norm `norm` at `angles` angles up to 180 degrees, times d^(1/4).
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
  for (std::size_t i = 0; i < angles; ++i) pairs.push_back(pair_of(sample, 0, 0, i));
  std::vector<double> squares(angles), variances(angles);
  AngleCurve curve{norm, {}, {}};
  bool has_closed_form = true;
  for (std::size_t seed = 1; seed <= seeds; ++seed) {
    const auto map = study_map(spec, d, m, seed);
    const std::vector<double> values = pair_products(features_of(*map, sample), pairs);
    for (std::size_t i = 0; i < angles; ++i) {
      const auto& [block, query, key, q, k] = pairs[i];
      const auto kernel = map->kernel(q, k, 0);
      if (!kernel) return curve;
      squares[i] += std::pow(values[i] / *kernel - 1, 2) / double(seeds);
      const auto variance = map->variance(q, k, 0);
      has_closed_form &= variance.has_value();
      variances[i] += variance.value_or(0) / (*kernel * *kernel) / double(seeds);
    }
  }
  for (std::size_t i = 0; i < angles; ++i) {
    const double angle = 180.0 * double(i) / double(angles - 1);
    curve.measured.add(angle, std::sqrt(squares[i]));
    if (has_closed_form) curve.exact.add(angle, std::sqrt(variances[i]));
  }
  return curve;
}

/// Measures the definiteness of the estimated kernel on the first queries with themselves as keys.
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
  study.spectrum = spectrum_of(*density, frequencies, 0, spectral_reach(frequencies));
  const double far = 4 / std::max(1e-12, bandwidth(frequencies));
  study.kernel_of_draws = kernel_of_draws(frequencies, 0, far);
  if (density->kernel(0)) study.kernel = kernel_curve(*density, frequencies, 0, far);
}

}  // namespace

FeatureSpec with_standard_frequencies(FeatureSpec spec) {
  spec.density.kind = "gaussian";
  spec.density.log_scale = 0;
  return spec;
}

std::unique_ptr<FeatureMap> study_map(FeatureSpec spec, std::size_t d, std::size_t m,
                                      std::uint64_t seed) {
  spec.heads = 1, spec.dim = d, spec.m = m;
  spec.density.seed = seed;
  auto map = make_feature_map(spec);
  initialize(*map, seed);
  return map;
}

std::unique_ptr<FeatureMap> small_map(const FeatureSpec& spec, std::size_t d) try {
  return study_map(spec, d, 4, 1);
} catch (const std::invalid_argument&) {
  return nullptr;
}

std::unique_ptr<FeatureMap> calibrated_map(const FeatureSpec& spec, const SampleBlock& block,
                                           std::size_t m, std::uint64_t seed) {
  auto map = study_map(spec, block.q.shape()[1], m, seed);
  const auto one_head = [](const Tensor& rows) {
    Tensor x = rows;
    x.reshape(Shape{rows.shape()[0], 1, rows.shape()[1]});
    return x;
  };
  map->calibrate(one_head(block.q), one_head(block.k));
  return map;
}

EstimatorStudy study_estimator(const FeatureSpec& spec, bool standard, const KernelSample& sample,
                               const StudyOptions& options) {
  Question question{spec, standard, sample, choose_pairs(sample, options.pairs), {}};
  for (const auto& [q, k] : first_rows(sample, attention_rows).blocks)
    question.attention.push_back(normalized_rows(softmax_weights(q, k)));
  std::vector<Measurement> all;
  for (const std::size_t m : options.m) all.push_back(measure(question, m, options.seeds));
  EstimatorStudy study;
  std::vector<double> kernel;
  if (standard)
    kernel =
        closed_form(question, *calibrated_map(spec, sample.blocks.front(), options.m.front(), 1),
                    &FeatureMap::kernel);
  study.has_closed_kernel = !kernel.empty();
  study.is_softmax =
      study.has_closed_kernel && std::ranges::equal(kernel, question.pairs, is_near_softmax);
  if (kernel.empty()) kernel = pooled_mean(all, question.pairs.size());
  const std::vector<double> stand_in = stand_in_variances(question.pairs);
  std::vector<std::vector<double>> deviations;
  for (const Measurement& measurement : all) {
    std::vector<double> variance;  // relative, in closed form if possible
    if (study.has_closed_kernel) variance = measurement.variance;
    for (std::size_t p = 0; p < variance.size(); ++p) variance[p] /= kernel[p] * kernel[p];
    study.rows.push_back(summarize(measurement, kernel, variance));
    deviations.push_back(
        deviations_of(measurement.values, kernel, variance.empty() ? stand_in : variance));
  }
  if (!study.has_closed_kernel) deviations = less_others(deviations, options.m);
  for (std::size_t r = 0; r < all.size(); ++r) summarize_bias(study.rows[r], deviations[r]);
  return study;
}

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
  study.infinite = infinite_kernel(spec);
  if (study.infinite.empty() && (spec.density.kind != "gaussian" || spec.density.log_scale != 0))
    study.configured = study_estimator(spec, false, sample, options);
  study.maps = compare_maps(standard, sample, options);
  for (const double norm : {0.5, 1.0, 1.5})
    study.angles.push_back(angle_curve(standard, norm, study.dim, options.m.back()));
  if (study.infinite.empty()) study.definiteness = definiteness_on(spec, sample, options.m.back());
  study_spectrum(study, spec.density, options.m.back());
  return study;
}

}  // namespace bochner

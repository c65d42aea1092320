#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/laboratory/attention_maps.hpp>
#include <bochner/train/laboratory/estimator_study.hpp>
#include <bochner/train/laboratory/feature_matrix.hpp>
#include <bochner/train/laboratory/statistics.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t attention_rows = 128;

struct BlockFeatures {
  FeatureMatrix q, k;
};

std::vector<BlockFeatures> features_of(FeatureMap& map, const KernelSample& sample) {
  Tape tape;
  tape.recording = false;
  std::vector<BlockFeatures> all;
  for (const SampleBlock& block : sample.blocks)
    all.push_back({feature_matrix(map.queries(tape, tape.constant(as_tokens(block.q))), 0),
                   feature_matrix(map.keys(tape, tape.constant(as_tokens(block.k))), 0)});
  return all;
}

std::vector<double> pair_products(const std::vector<BlockFeatures>& blocks,
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

/// Softmax weights of the first rows of a block.
Tensor softmax_map(const SampleBlock& block) {
  Tensor weights =
      softmax_weights(rows_from(block.q, 0, attention_rows), rows_from(block.k, 0, attention_rows));
  normalize_rows(weights);
  return weights;
}

double attention_distance(const std::vector<BlockFeatures>& blocks,
                          const std::vector<Tensor>& exact) {
  double sum = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Tensor weights = products(first_rows(blocks[b].q), first_rows(blocks[b].k));
    normalize_rows(weights);
    sum += std::min(1.0, total_variation(weights, exact[b])) / double(blocks.size());
  }
  return sum;
}

/// The estimates of all seeds at one m: (seed, pair).
struct Measurement {
  std::size_t m, features;
  std::vector<std::vector<double>> values;
  double attention = 0;
};

Measurement measure(const FeatureSpec& spec, const KernelSample& sample,
                    const std::vector<SamplePair>& pairs, const std::vector<Tensor>& exact,
                    std::size_t m, std::size_t seeds) {
  Measurement measurement{m, 0, {}};
  for (std::size_t seed = 1; seed <= seeds; ++seed) {
    const auto map = study_map(spec, sample.dim(), m, seed);
    calibrate(*map, sample.blocks.front());
    const std::vector<BlockFeatures> blocks = features_of(*map, sample);
    measurement.features = blocks.front().q.values.shape()[1];
    measurement.values.push_back(pair_products(blocks, pairs));
    measurement.attention += attention_distance(blocks, exact) / double(seeds);
  }
  return measurement;
}

using PairFunction = std::optional<double> (FeatureMap::*)(Point, Point, std::size_t) const;

/// A closed form at all pairs, empty if the map has none.
std::vector<double> closed_form(const FeatureMap& map, PairFunction form,
                                const KernelSample& sample, const std::vector<SamplePair>& pairs) {
  std::vector<double> values;
  for (const SamplePair& pair : pairs) {
    const auto& [q, k] = sample.blocks[pair.block];
    const auto value = (map.*form)(row_of(q, pair.query), row_of(k, pair.key), 0);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
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

/// Relative variances in closed form, empty if there are none.
std::vector<double> relative_variances(std::vector<double> variance,
                                       const std::vector<double>& kernel) {
  for (std::size_t p = 0; p < variance.size(); ++p) variance[p] /= kernel[p] * kernel[p];
  return variance;
}

/// Mean over pairs of each seed's relative deviation. A pair counts by the inverse of its exact
/// variance; by that of the measured one a skewed estimate would look biased.
void summarize_bias(ErrorAtM& row, const Measurement& measurement,
                    const std::vector<double>& kernel, const std::vector<double>& exact) {
  std::vector<double> means;
  for (const auto& values : measurement.values) {
    double sum = 0, weights = 0;
    for (std::size_t p = 0; p < kernel.size(); ++p) {
      const double weight = exact.empty() ? 1 : 1 / (1e-9 + exact[p]);
      sum += weight * (values[p] / kernel[p] - 1);
      weights += weight;
    }
    means.push_back(sum / weights);
  }
  const double S = double(means.size()), scatter = scatter_of(means);
  row.bias = mean_of(means);
  row.bias_sigmas = scatter > 0 ? row.bias / std::sqrt(scatter / (S - 1) / S) : 0;
}

/// Of each pair over the seeds, relative to the kernel.
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
  summarize_bias(row, measurement, kernel, exact);
  row.variance = median(variances);
  row.error = median(errors);
  row.error_low = quantile(errors, 0.25);
  row.error_high = quantile(errors, 0.75);
  row.attention = measurement.attention;
  if (exact.empty()) return row;
  row.exact_variance = median(exact);
  row.exact_error = std::sqrt(*row.exact_variance);
  return row;
}

/// Whether a kernel at all pairs is that of softmax.
bool is_softmax(const std::vector<double>& kernel, const KernelSample& sample,
                const std::vector<SamplePair>& pairs) {
  for (std::size_t p = 0; p < kernel.size(); ++p) {
    const auto& [q, k] = sample.blocks[pairs[p].block];
    const double exact =
        std::exp(softmax_exponent(row_of(q, pairs[p].query), row_of(k, pairs[p].key)));
    if (!(std::fabs(kernel[p] / exact - 1) < 1e-6)) return false;
  }
  return !kernel.empty();
}

std::unique_ptr<FeatureMap> calibrated_map(const FeatureSpec& spec, const KernelSample& sample,
                                           std::size_t m) {
  auto map = study_map(spec, sample.dim(), m, 1);
  calibrate(*map, sample.blocks.front());
  return map;
}

}  // namespace

FeatureSpec with_standard_frequencies(FeatureSpec spec) {
  spec.density.kind = "gaussian";
  spec.density.log_scale = 0;
  return spec;
}

std::unique_ptr<FeatureMap> study_map(FeatureSpec spec, std::size_t d, std::size_t m,
                                      std::uint64_t seed) {
  spec.heads = spec.density.heads = 1;
  spec.dim = spec.density.dim = d;
  spec.m = spec.density.m = m;
  spec.density.seed = seed;
  auto map = make_feature_map(spec);
  initialize(*map, seed);
  return map;
}

void calibrate(FeatureMap& map, const SampleBlock& block) {
  const auto one_head = [](const Tensor& rows) {
    Tensor x = rows;
    x.reshape(Shape{rows.shape()[0], 1, rows.shape()[1]});
    return x;
  };
  map.calibrate(one_head(block.q), one_head(block.k));
}

std::vector<double> estimates(FeatureMap& map, const KernelSample& sample,
                              const std::vector<SamplePair>& pairs) {
  return pair_products(features_of(map, sample), pairs);
}

EstimatorStudy study_estimator(const FeatureSpec& spec, bool standard, const KernelSample& sample,
                               const StudyOptions& options) {
  const std::vector<SamplePair> pairs = choose_pairs(sample, options.pairs);
  std::vector<Tensor> exact;
  for (const SampleBlock& block : sample.blocks) exact.push_back(softmax_map(block));
  std::vector<Measurement> all;
  for (const std::size_t m : options.m)
    all.push_back(measure(spec, sample, pairs, exact, m, options.seeds));
  EstimatorStudy study;
  std::vector<double> kernel;
  if (standard)
    kernel = closed_form(*calibrated_map(spec, sample, options.m.front()), &FeatureMap::kernel,
                         sample, pairs);
  study.has_closed_kernel = !kernel.empty();
  study.is_softmax = is_softmax(kernel, sample, pairs);
  if (kernel.empty()) kernel = pooled_mean(all, pairs.size());
  for (const Measurement& measurement : all) {
    std::vector<double> variance;
    if (study.has_closed_kernel)
      variance = closed_form(*calibrated_map(spec, sample, measurement.m), &FeatureMap::variance,
                             sample, pairs);
    study.rows.push_back(
        summarize(measurement, kernel, relative_variances(std::move(variance), kernel)));
  }
  return study;
}

}  // namespace bochner::inline BOCHNER_PRECISION

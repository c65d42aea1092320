#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/laboratory/attention.hpp>
#include <bochner/train/laboratory/feature_matrix.hpp>
#include <bochner/train/laboratory/kernel_study.hpp>
#include <bochner/train/laboratory/statistics.hpp>
#include <cmath>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t attention_rows = 128;

/// What is estimated: pairs of a sample, and softmax weights of the first rows of its blocks.
struct Question {
  const FeatureSpec& spec;
  const KernelSample& sample;
  std::vector<SamplePair> pairs;
  std::vector<Tensor> attention;
};

std::vector<HeadFeatures> features_of(FeatureMap& map, const KernelSample& sample) {
  std::vector<HeadFeatures> blocks;
  for (const SampleBlock& block : sample.blocks)
    blocks.push_back(std::move(head_features(map, as_tokens(block.q), as_tokens(block.k)).front()));
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

/// Softmax weights of the first rows of a block.
Tensor softmax_map(const SampleBlock& block) {
  Tensor weights =
      softmax_weights(rows_from(block.q, 0, attention_rows), rows_from(block.k, 0, attention_rows));
  normalize_rows(weights);
  return weights;
}

double attention_distance(const std::vector<HeadFeatures>& blocks,
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

Measurement measure(const Question& question, std::size_t m, std::size_t seeds) {
  Measurement measurement{m, 0, {}};
  for (std::size_t seed = 1; seed <= seeds; ++seed) {
    const auto map = calibrated_map(question.spec, question.sample.blocks.front(), m, seed);
    const std::vector<HeadFeatures> blocks = features_of(*map, question.sample);
    measurement.features = blocks.front().q.values.shape()[1];
    measurement.values.push_back(pair_products(blocks, question.pairs));
    measurement.attention += attention_distance(blocks, question.attention) / double(seeds);
  }
  return measurement;
}

using PairFunction = std::optional<double> (FeatureMap::*)(Point, Point, std::size_t) const;

/// A closed form at all pairs, empty if the map has none.
std::vector<double> closed_form(const Question& question, std::size_t m, PairFunction form) {
  const auto map = calibrated_map(question.spec, question.sample.blocks.front(), m, 1);
  std::vector<double> values;
  for (const SamplePair& pair : question.pairs) {
    const auto [q, k] = rows_of(question.sample, pair);
    const auto value = std::invoke(form, *map, q, k, 0);
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
bool is_softmax(const std::vector<double>& kernel, const Question& question) {
  for (std::size_t p = 0; p < kernel.size(); ++p) {
    const auto [q, k] = rows_of(question.sample, question.pairs[p]);
    if (!is_near_softmax(kernel[p], q, k)) return false;
  }
  return !kernel.empty();
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

std::vector<double> estimates(FeatureMap& map, const KernelSample& sample,
                              const std::vector<SamplePair>& pairs) {
  return pair_products(features_of(map, sample), pairs);
}

EstimatorStudy study_estimator(const FeatureSpec& spec, bool standard, const KernelSample& sample,
                               const StudyOptions& options) {
  Question question{spec, sample, choose_pairs(sample, options.pairs), {}};
  for (const SampleBlock& block : sample.blocks) question.attention.push_back(softmax_map(block));
  std::vector<Measurement> all;
  for (const std::size_t m : options.m) all.push_back(measure(question, m, options.seeds));
  EstimatorStudy study;
  std::vector<double> kernel;
  if (standard) kernel = closed_form(question, options.m.front(), &FeatureMap::kernel);
  study.has_closed_kernel = !kernel.empty();
  study.is_softmax = is_softmax(kernel, question);
  if (kernel.empty()) kernel = pooled_mean(all, question.pairs.size());
  for (const Measurement& measurement : all) {
    std::vector<double> variance;  // relative, in closed form where there is one
    if (study.has_closed_kernel)
      variance = closed_form(question, measurement.m, &FeatureMap::variance);
    for (std::size_t p = 0; p < variance.size(); ++p) variance[p] /= kernel[p] * kernel[p];
    study.rows.push_back(summarize(measurement, kernel, variance));
  }
  return study;
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <algorithm>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/base/numeric/ridge_path.hpp>
#include <bochner/base/numeric/softmax_regression.hpp>
#include <bochner/layers/estimators/estimator.hpp>
#include <bochner/layers/gaussian_processes/process_features.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t frequencies = 256, compared_rows = 2000, inner_folds = 4;
constexpr double scale_factors[] = {0.25, 0.5, 1, 2, 4};

/// Returns the class of each row.
std::vector<std::size_t> labels_of(const Columns& answers) {
  std::vector<std::size_t> labels(answers[0].size());
  for (std::size_t k = 0; k < answers.size(); ++k)
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (answers[k][i] > 0.5) labels[i] = k;
  return labels;
}

/// Returns 0, 1, .. up to n - 1 in an order that depends on the seed only, at most `most`.
std::vector<std::size_t> some_rows(std::size_t n, std::size_t most, std::uint64_t seed) {
  auto order = Draws({seed, Purpose::data_order, stream_of("logistic")}).shuffled(n);
  order.resize(std::min(n, most));
  return order;
}

/// State: the penalty, the log scales of the inputs (d), then weights (F, K).
class Logistic : public Estimator {
 public:
  Logistic(const EstimatorSpec& spec, const std::string& density, bool learned)
      : spec_(spec), has_density_(!density.empty()), learned_(learned) {
    density_.kind = density;
    density_.draws = "sobol";
    density_.heads = spec.inputs;
    density_.m = frequencies;
    density_.dim = 1;
    density_.seed = spec.seed;
  }

  std::size_t size() const override { return first_weight() + features() * spec_.classes; }

  bool fit(const AnsweredRows& rows, std::span<double> state) const override try {
    constexpr std::size_t most_learned = 128;
    if (learned_ && spec_.inputs * spec_.classes > most_learned) return false;
    const std::vector<double> scales =
        has_density_ ? best_scales(rows) : std::vector<double>(spec_.inputs);
    std::ranges::copy(scales, state.begin() + 1);
    const ClassedFeatures seen = classed(rows, scales);
    state[0] = best_penalty(seen);
    return fit_weights(seen, state);
  } catch (const std::domain_error&) {
    return false;  // of the processes that learn scales
  }

  bool refit(const AnsweredRows& rows, std::span<double> state) const override {
    return fit_weights(classed(rows, scales_of(state)), state);
  }

  RowEstimates estimate(const AnsweredRows&, std::span<const double> state,
                        const Columns& inputs) const override {
    const std::size_t K = spec_.classes, n = inputs[0].size();
    const std::vector<double> p = softmax_probabilities(
        features(), K, features_of(inputs, scales_of(state)), state.subspan(first_weight()));
    RowEstimates estimates{Columns(K, std::vector<double>(n))};
    for (std::size_t i = 0; i < n * K; ++i) estimates.values[i % K][i / K] = p[i];
    return estimates;
  }

 private:
  std::size_t features() const { return spec_.inputs + 1 + (has_density_ ? 2 * frequencies : 0); }

  std::size_t first_weight() const { return 1 + spec_.inputs; }
  std::vector<double> scales_of(std::span<const double> state) const {
    return {state.begin() + 1, state.begin() + std::ptrdiff_t(first_weight())};
  }

  /// Returns random features of a kernel with these log scales, the inputs, and 1. (n, F)
  std::vector<double> features_of(const Columns& inputs,
                                  const std::vector<double>& log_scales) const {
    const std::size_t d = spec_.inputs, n = inputs[0].size(), F = features();
    std::vector<double> values(n * F, 1.0);
    if (has_density_) {
      const auto density = make_density(density_);
      density->init_head_log_scales(log_scales);
      Tape tape({.recording = false});
      const Tensor draws = density->draws(tape).value();
      std::vector<std::size_t> all;
      for (std::size_t j = 0; j < d; ++j) all.push_back(j);
      const ProcessFeatures random(inputs, {{all}, {draws.begin(), draws.end()}, {1}, {}});
      std::vector<double> row(2 * frequencies);
      for (std::size_t i = 0; i < n; ++i) {
        random.rows(i, i + 1, row.data());
        std::ranges::copy(row, values.begin() + std::ptrdiff_t(i * F));
      }
    }
    const double size = 1 / std::sqrt(double(d));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < d; ++j) values[i * F + F - 1 - d + j] = size * inputs[j][i];
    return values;
  }

  ClassedFeatures classed(const AnsweredRows& rows, const std::vector<double>& log_scales) const {
    return {features(), spec_.classes, features_of(rows.inputs, log_scales),
            labels_of(rows.answers)};
  }

  /// Returns the log scales, all equal or relative to the learned ones, whose features explain the
  /// classes best by least squares.
  std::vector<double> best_scales(const AnsweredRows& rows) const {
    const std::vector<double> usual(spec_.inputs, -std::log(double(spec_.inputs)) / 2),
        base = learned_ ? class_log_scales(rows, spec_.seed) : usual;
    const std::vector<std::size_t> some = some_rows(rows.size(), compared_rows, spec_.seed);
    const Columns inputs = rows_of(rows.inputs, some), answers = rows_of(rows.answers, some);
    const std::size_t n = some.size(), K = spec_.classes;
    std::vector<double> outputs(n * K);
    for (std::size_t i = 0; i < n * K; ++i) outputs[i] = answers[i % K][i / K];
    remove_means(outputs, K);
    std::vector<double> best = base;
    double least = INFINITY;
    for (const double factor : scale_factors) {
      std::vector<double> scales = base;
      for (double& scale : scales) scale += std::log(factor);
      std::vector<double> values = features_of(inputs, scales);
      remove_means(values, features());
      const RidgePath path(n, features(), K, values, outputs);
      const double error = path.error(path.best_penalty());
      if (error < least) least = error, best = scales;
    }
    return best;
  }

  /// Returns the penalty of the least log loss over folds.
  double best_penalty(const ClassedFeatures& rows) const {
    const std::vector<std::size_t> order = some_rows(rows.size(), compared_rows, spec_.seed);
    std::vector<double> losses(penalties().size());
    for (std::size_t fold = 0; fold < inner_folds; ++fold) {
      std::vector<std::size_t> seen, held;
      for (std::size_t i = 0; i < order.size(); ++i)
        (i % inner_folds == fold ? held : seen).push_back(order[i]);
      const ClassedFeatures to_fit = rows.rows(seen), to_test = rows.rows(held);
      std::vector<double> weights(features() * spec_.classes);
      for (std::size_t p = 0; p < losses.size(); ++p) {
        weights = fit_softmax(to_fit, penalties()[p], std::move(weights));
        losses[p] +=
            log_loss(softmax_probabilities(features(), spec_.classes, to_test.values, weights),
                     to_test.labels);
      }
    }
    return penalties()[std::size_t(std::ranges::min_element(losses) - losses.begin())];
  }

  bool fit_weights(const ClassedFeatures& rows, std::span<double> state) const {
    const std::vector<double> weights =
        fit_softmax(rows, state[0], std::vector<double>(features() * spec_.classes));
    std::ranges::copy(weights, state.begin() + std::ptrdiff_t(first_weight()));
    return std::ranges::all_of(weights, [](double x) { return std::isfinite(x); });
  }

  /// From strong to weak, so that each fit starts at the one before.
  static std::vector<double> penalties() { return {1, 0.1, 1e-2, 1e-3, 1e-4, 1e-5}; }

  EstimatorSpec spec_;
  bool has_density_, learned_;
  DensitySpec density_;
};

}  // namespace

EstimatorPtr make_logistic(const EstimatorSpec& spec, const std::string& density, bool learned) {
  return std::make_unique<Logistic>(spec, density, learned);
}

}  // namespace bochner::inline BOCHNER_PRECISION

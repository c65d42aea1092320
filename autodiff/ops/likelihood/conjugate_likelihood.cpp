#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/ops/likelihood/conjugate_likelihood.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t block_rows = 2048;  // rows whose features are in memory at a time
constexpr std::size_t rows_per_fill = 64;

/// Computes features / noise of rows begin, .., end - 1.
void fill_block(const FeatureRows& features, std::size_t begin, std::size_t end, double noise,
                std::vector<double>& block) {
  const std::size_t F = features.features();
  parallel_for(end - begin, rows_per_fill, [&](std::size_t first, std::size_t last) {
    double* numbers = block.data() + first * F;
    features.rows(begin + first, begin + last, numbers);
    for (std::size_t i = 0; i < (last - first) * F; ++i) numbers[i] /= noise;
  });
}

/// Calls action(begin, end, features / noise) for all blocks in order.
template <class Action>
void for_blocks(const FeatureRows& features, double noise, const Action& action) {
  const std::size_t n = features.size();
  std::vector<double> block(std::min(n, block_rows) * features.features());
  for (std::size_t begin = 0; begin < n; begin += block_rows) {
    const std::size_t end = std::min(n, begin + block_rows);
    fill_block(features, begin, end, noise, block);
    action(begin, end, block);
  }
}

double dot(const double* a, const double* b, std::size_t n) {
  return std::inner_product(a, a + n, b, 0.0);
}

/// Returns |y - features w|^2; unlike a difference of squares, never below 0.
double squared_errors(const FeatureRows& features, const std::vector<double>& y,
                      const ConjugatePosterior& posterior) {
  const std::size_t F = posterior.weights.size();
  double sum = 0;
  for_blocks(features, posterior.noise,
             [&](std::size_t begin, std::size_t end, std::vector<double>& block) {
               const auto squares = [&](std::size_t first, std::size_t last) {
                 double part = 0;
                 for (std::size_t i = first; i < last; ++i) {
                   const double mean = dot(block.data() + i * F, posterior.weights.data(), F);
                   part += (y[begin + i] - mean) * (y[begin + i] - mean);
                 }
                 return part;
               };
               sum += parallel_sum<double>(end - begin, rows_per_fill, squares);
             });
  return sum;
}

/// Computes d ln p / d (features / noise) of a block: (y - mean) weights^T shape / rate - features
/// (L L^T)^-1, over the noise. `inverse` (F, F) is the full matrix.
void weigh_block(const ConjugatePosterior& posterior, const std::vector<double>& inverse,
                 const double* y, std::size_t rows, std::vector<double>& block,
                 std::vector<double>& weights) {
  const std::size_t F = posterior.weights.size();
  multiply(rows, F, F, block.data(), false, inverse.data(), 0, weights.data());
  parallel_for(rows, rows_per_fill, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const double error = y[i] - dot(block.data() + i * F, posterior.weights.data(), F);
      const double factor = error * posterior.shape / posterior.rate;
      for (std::size_t f = 0; f < F; ++f)
        weights[i * F + f] = (factor * posterior.weights[f] - weights[i * F + f]) / posterior.noise;
    }
  });
}

struct ConjugateSlopes {
  std::vector<double> features;
  double log_noise;
};

ConjugateSlopes slopes_of(const FeatureRows& features, const std::vector<double>& y,
                          ConjugatePosterior posterior, double prior_shape) {
  const std::size_t F = features.features();
  std::vector<double> inverse = std::move(posterior.factor);
  invert_from_factor(F, inverse.data());
  double trace = 0;
  for (std::size_t f = 0; f < F; ++f) {
    trace += inverse[f * F + f];
    for (std::size_t g = 0; g < f; ++g) inverse[g * F + f] = inverse[f * F + g];
  }
  ConjugateSlopes slopes{std::vector<double>(features.slopes()), 0};
  std::vector<double> weights(std::min(features.size(), block_rows) * F);
  for_blocks(features, posterior.noise,
             [&](std::size_t begin, std::size_t end, std::vector<double>& block) {
               weigh_block(posterior, inverse, y.data() + begin, end - begin, block, weights);
               const auto add = [&](std::size_t first, std::size_t last, double* sums) {
                 features.pull_back(begin + first, begin + last, weights.data() + first * F, sums);
               };
               const std::vector<double> sums =
                   parallel_sums(slopes.features.size(), end - begin, rows_per_fill, add);
               for (std::size_t i = 0; i < sums.size(); ++i) slopes.features[i] += sums[i];
             });
  const double squares = dot(posterior.weights.data(), posterior.weights.data(), F);
  const double ratio = posterior.shape / posterior.rate;
  const double by_rate = 1 / (posterior.noise * posterior.noise) - ratio;
  slopes.log_noise = double(F) - trace - ratio * squares +
                     by_rate * 2 * prior_shape * posterior.noise * posterior.noise;
  return slopes;
}

}  // namespace

double floored_noise(double log_noise, std::size_t rows) {
  return std::sqrt(std::exp(2 * log_noise) + 1e-12 * double(rows));
}

ConjugatePosterior conjugate_posterior(const FeatureRows& features, const std::vector<double>& y,
                                       double noise, double shape) {
  const std::size_t n = features.size(), F = features.features();
  require(y.size() == n, "conjugate_log_likelihood", "features of ", n, " rows and ", y.size(),
          " values");
  require(noise > 0 && shape > 0, "conjugate_log_likelihood",
          "noise and shape must be above 0: ", noise, ", ", shape);
  ConjugatePosterior posterior{noise, std::vector<double>(F * F), std::vector<double>(F), 0, 0, 0};
  std::vector<double> products(F);
  for_blocks(features, noise, [&](std::size_t begin, std::size_t end, std::vector<double>& block) {
    accumulate_gram(end - begin, F, block.data(), posterior.factor.data());
    multiply(F, 1, end - begin, block.data(), true, y.data() + begin, 1, products.data());
  });
  for (std::size_t f = 0; f < F; ++f) posterior.factor[f * F + f] += 1;
  cholesky(F, posterior.factor.data());
  posterior.weights = products;
  solve_lower(F, posterior.factor.data(), 1, posterior.weights.data());
  solve_lower_transposed(F, posterior.factor.data(), 1, posterior.weights.data());
  const double rate = shape * noise * noise;
  posterior.shape = shape + double(n) / 2;
  posterior.rate = rate + (squared_errors(features, y, posterior) +
                           dot(posterior.weights.data(), posterior.weights.data(), F)) /
                              2;
  posterior.log_likelihood = -double(n) / 2 * log_two_pi -
                             log_determinant_of_factor(F, posterior.factor.data()) / 2 +
                             shape * std::log(rate) - posterior.shape * std::log(posterior.rate) +
                             std::lgamma(posterior.shape) - std::lgamma(shape);
  return posterior;
}

std::vector<ConjugatePrediction> predict(const ConjugatePosterior& posterior, std::size_t count,
                                         double* features) {
  const std::size_t F = posterior.weights.size();
  std::vector<ConjugatePrediction> predictions(count);
  std::vector<double> columns(F * count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t f = 0; f < F; ++f) {
      features[i * F + f] /= posterior.noise;
      columns[f * count + i] = features[i * F + f];
    }
    predictions[i].mean = dot(features + i * F, posterior.weights.data(), F);
  }
  solve_lower(F, posterior.factor.data(), count, columns.data());
  std::vector<double> variance(count, 1);
  for (std::size_t f = 0; f < F; ++f)
    for (std::size_t i = 0; i < count; ++i)
      variance[i] += columns[f * count + i] * columns[f * count + i];
  for (std::size_t i = 0; i < count; ++i)
    predictions[i].scale = std::sqrt(variance[i] * posterior.rate / posterior.shape);
  return predictions;
}

Var conjugate_log_likelihood(const std::vector<Var>& parameters, const Var& log_noise,
                             std::shared_ptr<const FeatureRows> features,
                             const std::vector<double>& y, double shape) {
  require(log_noise.size() == 1, "conjugate_log_likelihood",
          "log_noise must have one element, not ", log_noise.shape());
  const double free_noise = double(log_noise.data()[0]);
  const double noise = floored_noise(free_noise, features->size());
  auto posterior =
      std::make_shared<ConjugatePosterior>(conjugate_posterior(*features, y, noise, shape));
  std::vector<Var> inputs = parameters;
  inputs.push_back(log_noise);
  return record("conjugate_log_likelihood", filled({}, real(posterior->log_likelihood)), inputs,
                [parameters, log_noise, features = std::move(features), y, shape, posterior,
                 free_noise, noise](Tensor& g) {
                  const ConjugateSlopes slopes =
                      slopes_of(*features, y, std::move(*posterior), shape);
                  const double factor = double(g.data()[0]);
                  std::size_t next = 0;
                  for (const Var& parameter : parameters) {
                    Tensor gradient = uninitialized(parameter.shape());
                    for (real& x : gradient) x = real(factor * slopes.features[next++]);
                    parameter.add_gradient(std::move(gradient));
                  }
                  const double above_floor = std::exp(2 * free_noise) / (noise * noise);
                  log_noise.add_gradient(
                      filled(log_noise.shape(), real(factor * above_floor * slopes.log_noise)));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION

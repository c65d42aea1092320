#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/coefficients.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Added to relative variances: smaller errors are not worth more weight.
constexpr double tolerated_error = 1e-3;
constexpr double max_error = 1e20;

double relative_error(double variance, double kernel) {
  const double relative = variance / (kernel * kernel);
  return std::isfinite(relative) ? std::clamp(relative, 0.0, max_error) + tolerated_error
                                 : max_error;
}

/// Returns samples of unit elements: the first row is 1, the second is `second`.
Tensor unit_samples(std::size_t heads, std::size_t d, real second) {
  Tensor samples = filled({2, heads, d}, real(1));
  for (std::size_t i = heads * d; i < samples.size(); ++i) samples.data()[i] = second;
  return samples;
}

/// Hybrid sum_k lambda_k(x, y) phi_k(x) . phi_k(y) of any estimators with separate frequencies:
/// products of HybridCoefficients' factors and features. Unbiased if all are of one kernel. F = S
/// (F_1 + .. + F_K). After Choromanski et al., "Hybrid random features", 2022.
class MixedHybrid : public TwoSidedMap {
 public:
  explicit MixedHybrid(const FeatureSpec& spec) : needs_calibration_(spec.lambdas == "clusters") {
    require(!spec.estimators.empty(), "hybrid", "estimators must not be empty");
    for (std::size_t k = 0; k < spec.estimators.size(); ++k) {
      FeatureSpec part = spec;
      part.kind = spec.estimators[k];
      part.weights = "none";
      part.density.seed += k * stream_of("estimator");
      require(part.kind != spec.kind, "hybrid", "cannot be an estimator of itself");
      estimators_.push_back(feature_maps().make(part.kind, part));
      needs_calibration_ |= estimators_.back()->needs_calibration();
    }
    FeatureSpec part = spec;
    part.density.seed += stream_of("coefficients");
    coefficients_ = make_coefficients(part, estimators_.size());
    if (spec.lambdas != "angular" && spec.lambdas != "gaussian") return;
    calibrate_coefficients(unit_samples(spec.heads, spec.dim, 1),
                           unit_samples(spec.heads, spec.dim, -1));
  }

  bool has_signed_features() const override {
    return !positive() || std::ranges::any_of(estimators_, [](const auto& one) {
      return one->has_signed_features();
    });
  }
  bool positive() const override {
    return coefficients_->logarithmic() &&
           std::ranges::all_of(estimators_, [](const auto& one) { return one->positive(); });
  }

  std::optional<double> kernel(Point q, Point k, std::size_t head) const override {
    const auto lambda = coefficients_->moments(ScaledPair(q, k), head);
    double sum = 0;
    for (std::size_t i = 0; i < estimators_.size(); ++i) {
      const auto estimate = estimators_[i]->kernel(q, k, head);
      if (!estimate || !lambda) return {};
      sum += lambda->mean[i] * *estimate;
    }
    return sum;
  }

  /// Returns sum_jk E lambda_j lambda_k E A_j A_k - (E sum_k lambda_k A_k)^2: the estimates A_k are
  /// independent of each other and of lambda.
  std::optional<double> variance(Point q, Point k, std::size_t head) const override {
    const auto lambda = coefficients_->moments(ScaledPair(q, k), head);
    const std::size_t K = estimators_.size();
    std::vector<double> kernels;
    double sum = 0, mean = 0;
    for (std::size_t i = 0; i < K; ++i) {
      const auto estimate = estimators_[i]->kernel(q, k, head),
                 error = estimators_[i]->variance(q, k, head);
      if (!estimate || !error || !lambda) return {};
      kernels.push_back(*estimate);
      mean += lambda->mean[i] * *estimate;
      sum += lambda->square[i * K + i] * *error;
    }
    for (std::size_t i = 0; i < K * K; ++i)
      sum += lambda->square[i] * kernels[i / K] * kernels[i % K];
    return sum - mean * mean;
  }

  void calibrate(const Tensor& q, const Tensor& k) override {
    for (auto& estimator : estimators_) estimator->calibrate(q, k);
    calibrate_coefficients(q, k);
  }
  bool needs_calibration() const override { return needs_calibration_; }

  void visit(Visitor& visitor) override {
    visitor("estimators", estimators_);
    visitor("lambda", *coefficients_);
  }

 protected:
  Features side(Tape& tape, const Var& x, Side side, std::size_t first) override {
    const bool query = side == Side::query;
    std::vector<Features> all;
    bool logarithmic = coefficients_->logarithmic();
    for (auto& estimator : estimators_) {
      all.push_back(query ? estimator->queries(tape, x, first) : estimator->keys(tape, x, first));
      logarithmic &= all.back().scale == FeatureScale::logarithmic;
    }
    Var factors = coefficients_->factors(tape, softmax_scaled(x), query);
    if (coefficients_->logarithmic() && !logarithmic) factors = exp(factors);
    return product_of(factors, all, logarithmic);
  }

 private:
  /// Multiplies features by factors, in groups whose size divides all numbers of features.
  static Features product_of(const Var& factors, const std::vector<Features>& all,
                             bool logarithmic) {
    std::size_t group = 0;
    for (const Features& one : all) group = std::gcd(group, one.shape().back());
    std::vector<Var> features, groups;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Var values = all[k].values();
      const bool to_exponentiate = !logarithmic && all[k].scale == FeatureScale::logarithmic;
      features.push_back(to_exponentiate ? exp(values) : values);
      const Var factor = slice(factors, 3, k, k + 1);
      for (std::size_t i = 0; i < values.dim(-1) / group; ++i) groups.push_back(factor);
    }
    const Var joined = concat(features, -1), repeated = concat(groups, 3);
    return logarithmic ? product_features(repeated, from_logarithms(joined))
                       : product_features(repeated, joined);
  }

  /// Calibrates the coefficients by variances of attention weights, in which pairs of large kernels
  /// dominate. Estimators without a closed form get the mean of the others.
  void calibrate_coefficients(const Tensor& q, const Tensor& k) {
    const std::vector<double> sums = row_sums(q, k);
    const std::size_t H = q.shape()[1];
    coefficients_->calibrate(q, k, [&](std::size_t i, std::size_t j, std::size_t head) {
      const std::vector<double> x = sample_of(q, i, head), y = sample_of(k, j, head);
      std::vector<double> errors;
      std::vector<std::size_t> unknown;
      double known = 0;
      for (const auto& estimator : estimators_) {
        const auto variance = estimator->variance(x, y, head),
                   estimate = estimator->kernel(x, y, head);
        if (!variance || !estimate) unknown.push_back(errors.size());
        const double weight = estimate.value_or(1) / sums[i * H + head];
        errors.push_back(
            variance && estimate ? weight * weight * relative_error(*variance, *estimate) : 0);
        known += errors.back();
      }
      for (const std::size_t e : unknown)
        errors[e] =
            unknown.size() == errors.size() ? 1 : known / double(errors.size() - unknown.size());
      return errors;
    });
  }

  /// Returns the first estimator's mean kernel of each query and head with the first keys, 1
  /// without a closed form. -> (n, H)
  std::vector<double> row_sums(const Tensor& q, const Tensor& k) const {
    constexpr std::size_t keys = 64;
    const std::size_t H = q.shape()[1], s = std::min(keys, k.shape()[0]);
    std::vector<double> sums(q.shape()[0] * H);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::vector<double> x = sample_of(q, i / H, i % H);
      for (std::size_t j = 0; j < s; ++j)
        sums[i] +=
            estimators_.front()->kernel(x, sample_of(k, j, i % H), i % H).value_or(1) / double(s);
    }
    return sums;
  }

  bool needs_calibration_;
  std::vector<std::unique_ptr<FeatureMap>> estimators_;
  std::unique_ptr<HybridCoefficients> coefficients_;
};

}  // namespace

/// Its estimators may have frequencies.
void add_mixed_hybrid(FeatureMaps& all) {
  all.add("hybrid", make<MixedHybrid>, {.frequencies = false});
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/coefficients.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Hybrid random features: lambda SM_1 + (1 - lambda) SM_2 of two estimators of the softmax kernel,
/// where lambda(x, y) = a + <xi(x), eta(y)> is estimated by separate draws, so that the whole is an
/// inner product of features: products of (xi, sqrt(a)) with phi_1 and of (xi, sqrt(1 - a)) with
/// phi_2, the second xi negated for queries. Signed. Choromanski et al., "Hybrid random features",
/// 2022. Trigonometric features serve similar vectors, hyperbolic ones others. Angular: lambda =
/// angle / pi weights the hyperbolic ones; exact at angles 0 and pi for equal lengths; F = 4 m (n +
/// 1). Gaussian: lambda weights the trigonometric ones; F = 4 m (2 n + 1), of which 2 m are zero.
class HybridFeatures : public TwoSidedMap {
 public:
  /// lambda is the similarity, or 1 less the similarity on the hyperbolic estimator.
  HybridFeatures(const FeatureSpec& spec, std::unique_ptr<Similarity> similarity,
                 bool lambda_on_hyperbolic)
      : m_(spec.m),
        lambda_on_hyperbolic_(lambda_on_hyperbolic),
        constant_(lambda_on_hyperbolic ? 1 - similarity->constant() : similarity->constant()),
        similarity_(std::move(similarity)),
        frequencies_(spec) {}

  Frequencies* frequencies() override { return &frequencies_; }
  bool even() const override { return true; }
  std::optional<double> kernel(Point q, Point k, std::size_t) const override {
    return ScaledPair(q, k).softmax();
  }

  /// Returns E s^2 Var_1 + E (1 - s)^2 Var_2 + 2 E s (1 - s) Cov for s on the trigonometric
  /// estimator: both estimators share w, and s is independent of it.
  std::optional<double> variance(Point q, Point k, std::size_t head) const override {
    const ScaledPair pair(q, k);
    const auto s = similarity_->moments(pair, head);
    if (!s) return {};
    const double rest = 1 - 2 * s->mean + s->square;
    return (s->square * trigonometric_variance(pair) + rest * hyperbolic_variance(pair) +
            2 * (s->mean - s->square) * covariance_with_trigonometric(pair)) /
           double(m_);
  }

  void visit(Visitor& visitor) override {
    frequencies_.visit(visitor);
    similarity_->visit(visitor);
  }

 protected:
  Features side(Tape& tape, const Var& x, Side side, std::size_t) override {
    const Var w = frequencies_.draws(tape);
    Var first = exp(exponents(x, both_signs(w), 0.5)), second = trigonometric_features(x, w);
    if (!lambda_on_hyperbolic_) std::swap(first, second);
    Var xi = similarity_->features(tape, softmax_scaled(x)), rest = xi;
    if (side == Side::query) (lambda_on_hyperbolic_ ? xi : rest) = -xi;
    const Var with_first = pad(xi, -1, 0, 1, real(std::sqrt(constant_)));
    const Var with_second = pad(rest, -1, 0, 1, real(std::sqrt(1 - constant_)));
    const Shape groups{x.dim(0), x.dim(1), x.dim(2), 2, xi.dim(-1) + 1};
    return product_features(reshape(concat({with_first, with_second}, -1), groups),
                            concat({first, second}, -1));
  }

 private:
  std::size_t m_;
  bool lambda_on_hyperbolic_;
  double constant_;
  std::unique_ptr<Similarity> similarity_;
  Frequencies frequencies_;
};

}  // namespace

void add_hybrids(FeatureMaps& all) {
  const FeatureMaps::Factory angular = [](const FeatureSpec& spec) {
    return std::make_unique<HybridFeatures>(spec, angular_similarity(spec), true);
  };
  const FeatureMaps::Factory gaussian = [](const FeatureSpec& spec) {
    return std::make_unique<HybridFeatures>(spec, gaussian_similarity(spec), false);
  };
  all.add("hybrid_angular", angular, {.exponential = true});
  all.add("hybrid_gaussian", gaussian, {.exponential = true});
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/coefficients.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/gates.hpp>
#include <bochner/layers/spectral/base_draws.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Tensor lambda_draws(const FeatureSpec& spec) {
  return base_draws("iid", spec.heads, spec.lambda, spec.dim, 0,
                    {spec.density.seed, Purpose::spectral, stream_of("lambda")});
}

/// Returns 1 or -1 as constants.
Var signs_of(const Var& x) {
  Tensor signs = x.value();
  for (real& e : signs) e = e < 0 ? real(-1) : real(1);
  return Var(std::move(signs));
}

class AngularSimilarity : public Similarity {
 public:
  explicit AngularSimilarity(const FeatureSpec& spec)
      : n_(spec.lambda), smooth_(spec.smooth), directions_(lambda_draws(spec)) {}

  Var features(Tape& tape, const Var& y) override {
    const double scale = 1 / std::sqrt(2 * double(n_));
    if (smooth_) return tanh(project_heads(y, tape(directions_))) * scale;
    return signs_of(project_heads(y.value(), directions_.value())) * scale;
  }
  double constant() const override { return 0.5; }

  /// With t = angle / pi: mean 1 - t, variance t (1 - t) / n. The sign of zero is +1.
  std::optional<Moments> moments(const ScaledPair& pair, std::size_t) const override {
    if (smooth_) return {};
    const double norms = std::sqrt(pair.xx * pair.yy);
    const double cosine = norms > 0 ? pair.xy / norms : pair.xx == pair.yy ? 1 : 0;
    const double t = std::acos(std::clamp(cosine, -1.0, 1.0)) / std::numbers::pi;
    return Moments{1 - t, (1 - t) * (1 - t) + t * (1 - t) / double(n_)};
  }

  void visit(Visitor& visitor) override {
    if (smooth_) {
      visitor("directions", directions_);
    } else {
      visitor("directions", directions_.value());
    }
  }

 private:
  std::size_t n_;
  bool smooth_;
  Parameter directions_;  // (H, n, d); a buffer without `smooth`
};

class GaussianSimilarity : public Similarity {
 public:
  explicit GaussianSimilarity(const FeatureSpec& spec)
      : n_(spec.lambda), noise_(lambda_draws(spec)) {
    log_tau_.assign(filled({spec.heads, 1, 1}, real(std::log(spec.tau))));
  }

  Var features(Tape& tape, const Var& y) override {
    return fourier_features(y, tape.view(noise_) * exp(-tape(log_tau_)));
  }

  std::optional<Moments> moments(const ScaledPair& pair, std::size_t head) const override {
    const double exponent =
        pair.difference() * std::exp(-2 * double(log_tau_.value().data()[head]));
    const double mean = std::exp(-exponent / 2);
    return Moments{mean, mean * mean + std::pow(-std::expm1(-exponent), 2) / (2 * double(n_))};
  }

  void visit(Visitor& visitor) override {
    visitor("lambda_noise", noise_);
    visitor("log_tau", log_tau_);
  }

 private:
  std::size_t n_;
  Tensor noise_;       // (H, n, d)
  Parameter log_tau_;  // (H, 1, 1)
};

constexpr std::size_t max_pairs = 2048;
constexpr double max_logit = 4;

/// Weighted means of squared errors.
struct MeanErrors {
  explicit MeanErrors(std::size_t K) : sums(K) {}
  void add(const std::vector<double>& errors, double weight) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += weight * errors[k];
    total += weight;
  }
  /// Returns clamped logits whose softmax is proportional to 1 / mean.
  std::vector<double> logits() const {
    std::vector<double> logits(sums.size());
    if (!(total > 0)) return logits;
    double mean = 0;
    for (const double sum : sums) mean += std::log(sum) / double(sums.size());
    for (std::size_t k = 0; k < sums.size(); ++k)
      logits[k] = std::clamp(mean - std::log(sums[k]), -max_logit, max_logit);
    return logits;
  }
  std::vector<double> sums;
  double total = 0;
};

/// Calls visit(head, query, key) for pairs of samples of all heads: random pairs, or all if few.
template <class Visit>
void for_sampled_pairs(const Tensor& q, const Tensor& k, const Visit& visit) {
  const RandomFunction random{1, Purpose::sampling, stream_of("pairs of a hybrid")};
  const std::size_t n = q.shape()[0], all = n * k.shape()[0];
  for (std::size_t h = 0; h < q.shape()[1]; ++h)
    for (std::size_t i = 0; i < std::min(max_pairs, all); ++i) {
      const std::size_t pair = all <= max_pairs ? i : random.integer(i, all);
      visit(h, pair % n, pair / n);
    }
}

/// Coefficients p^T M_k p'. S = R.
class GateCoefficients : public HybridCoefficients {
 public:
  GateCoefficients(const FeatureSpec& spec, std::size_t K)
      : K_(K),
        R_(spec.gates),
        gates_(spec.heads, spec.dim, spec.gates),
        mixing_({spec.heads, K, R_, R_}, Initial::normal(hybrid_deviation)) {}

  Var factors(Tape& tape, const Var& y, bool query) override {
    return mixed_gates(tape, gates_.log_gates(tape, y, query), mixing_, query);
  }
  bool logarithmic() const override { return true; }

  std::optional<Moments> moments(const ScaledPair& pair, std::size_t head) const override {
    const std::vector<double> p = gates_.gates(pair.x, head, true),
                              other = gates_.gates(pair.y, head, false);
    Moments moments{mixed_gates(p, other, mixing_, head), {}};
    for (const double a : moments.mean)
      for (const double b : moments.mean) moments.square.push_back(a * b);
    return moments;
  }

  void calibrate(const Tensor& q, const Tensor& k, const PairErrors& errors) override {
    std::vector<Gates::GateClusters> found;
    for (std::size_t h = 0; h < q.shape()[1]; ++h) found.push_back(gates_.calibrate(q, k, h));
    std::vector<MeanErrors> means(found.size() * R_ * R_, MeanErrors(K_));
    for_sampled_pairs(q, k, [&](std::size_t h, std::size_t i, std::size_t j) {
      const std::size_t a = found[h].queries.labels[i], b = found[h].keys.labels[j];
      means[(h * R_ + a) * R_ + b].add(errors(i, j, h), 1);
    });
    for (std::size_t cell = 0; cell < means.size(); ++cell) {
      const std::vector<double> logits = means[cell].logits();
      const std::size_t h = cell / (R_ * R_), at = cell % (R_ * R_);
      for (std::size_t e = 0; e < K_; ++e)
        mixing_.value().data()[(h * K_ + e) * R_ * R_ + at] = real(logits[e]);
    }
  }

  void visit(Visitor& visitor) override {
    gates_.visit(visitor);
    visitor("mixing", mixing_);
  }

 private:
  std::size_t K_, R_;
  Gates gates_;
  Parameter mixing_;  // (H, K, R, R)
};

/// Coefficients v_k + (u_k - v_k) s(x, y). S is one more than the features of s.
class SimilarityCoefficients : public HybridCoefficients {
 public:
  SimilarityCoefficients(std::size_t heads, std::size_t K, std::unique_ptr<Similarity> similarity)
      : H_(heads), K_(K), similarity_(std::move(similarity)), alike_({H_, K}), other_({H_, K}) {}

  Var factors(Tape& tape, const Var& y, bool query) override {
    const Var f = similarity_->features(tape, y);
    const std::size_t n = f.dim(-1);
    if (!query)
      return broadcast_to(reshape(pad(f, -1, 0, 1, 1), by_token(y, {1, n + 1})),
                          by_token(y, {K_, n + 1}));
    const Var v = softmax(tape(other_)), slope = softmax(tape(alike_)) - v;
    const Var rest = reshape(v + similarity_->constant() * slope, {H_, K_, 1});
    return concat({reshape(f, by_token(y, {1, n})) * reshape(slope, {H_, K_, 1}),
                   broadcast_to(rest, by_token(y, {K_, 1}))},
                  -1);
  }
  bool logarithmic() const override { return false; }

  std::optional<Moments> moments(const ScaledPair& pair, std::size_t head) const override {
    const auto s = similarity_->moments(pair, head);
    if (!s) return {};
    const std::vector<double> u = strided_softmax(alike_.value().data() + head * K_, K_),
                              v = strided_softmax(other_.value().data() + head * K_, K_);
    Moments moments;
    for (std::size_t j = 0; j < K_; ++j) {
      moments.mean.push_back(v[j] + (u[j] - v[j]) * s->mean);
      for (std::size_t k = 0; k < K_; ++k)
        moments.square.push_back(v[j] * v[k] +
                                 (v[j] * (u[k] - v[k]) + v[k] * (u[j] - v[j])) * s->mean +
                                 (u[j] - v[j]) * (u[k] - v[k]) * s->square);
    }
    return moments;
  }

  void calibrate(const Tensor& q, const Tensor& k, const PairErrors& errors) override {
    std::vector<MeanErrors> alike(H_, MeanErrors(K_)), other = alike;
    for_sampled_pairs(q, k, [&](std::size_t h, std::size_t i, std::size_t j) {
      const ScaledPair pair(sample_of(q, i, h), sample_of(k, j, h));
      const auto s = similarity_->moments(pair, h);
      const double share = s ? s->mean : 0.5;
      alike[h].add(errors(i, j, h), share);
      other[h].add(errors(i, j, h), 1 - share);
    });
    for (std::size_t h = 0; h < H_; ++h) {
      const std::vector<double> u = alike[h].logits(), v = other[h].logits();
      std::copy(u.begin(), u.end(), alike_.value().data() + h * K_);
      std::copy(v.begin(), v.end(), other_.value().data() + h * K_);
    }
  }

  void visit(Visitor& visitor) override {
    similarity_->visit(visitor);
    visitor("alike", alike_);
    visitor("other", other_);
  }

 private:
  std::size_t H_, K_;
  std::unique_ptr<Similarity> similarity_;
  Parameter alike_, other_;  // logits of u and v, (H, K)
};

}  // namespace

std::unique_ptr<Similarity> angular_similarity(const FeatureSpec& spec) {
  return std::make_unique<AngularSimilarity>(spec);
}

std::unique_ptr<Similarity> gaussian_similarity(const FeatureSpec& spec) {
  return std::make_unique<GaussianSimilarity>(spec);
}

std::vector<std::string> lambda_names() { return {"learned", "gaussian", "angular", "clusters"}; }

std::unique_ptr<HybridCoefficients> make_coefficients(const FeatureSpec& spec, std::size_t K) {
  const std::string& kind = spec.lambdas;
  if (kind == "gaussian" || kind == "angular")
    return std::make_unique<SimilarityCoefficients>(
        spec.heads, K, kind == "gaussian" ? gaussian_similarity(spec) : angular_similarity(spec));
  return std::make_unique<GateCoefficients>(spec, K);
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

/// Feature maps without an estimated kernel: simple functions of x whose inner product is the
/// kernel, most of them known from GPU libraries.

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Map without parameters.
class PlainFeatures : public FeatureMap {
 public:
  bool positive() const override { return true; }
  void visit(Visitor&) override {}
};

/// x itself, for the delta rule, which gives keys unit length; F = d. Yang et al., "Parallelizing
/// linear transformers with the delta rule", 2024, with silu.
class IdentityFeatures : public PlainFeatures {
 public:
  explicit IdentityFeatures(const FeatureSpec&) {}
  bool positive() const override { return false; }
  Features features(Tape&, const Var& x) override { return x; }
  std::optional<double> kernel(Point q, Point k, std::size_t) const override {
    return std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
  }
  std::optional<double> variance(Point, Point, std::size_t) const override { return 0; }
};

/// relu(x) + 0.001; F = d. Choromanski et al., "Performers", 2021.
class ReluFeatures : public PlainFeatures {
 public:
  explicit ReluFeatures(const FeatureSpec&) {}
  Features features(Tape&, const Var& x) override { return relu(x) + 1e-3; }
};

/// relu(x)^2; F = d.
class SquaredReluFeatures : public PlainFeatures {
 public:
  explicit SquaredReluFeatures(const FeatureSpec&) {}
  Features features(Tape&, const Var& x) override { return square(relu(x)); }
};

/// Map of W x with W (m, d) learned per head, which initially keeps the size of x.
class ProjectedFeatures : public FeatureMap {
 public:
  explicit ProjectedFeatures(const FeatureSpec& spec)
      : weight_({spec.heads, spec.m, spec.dim}, Initial::normal(1 / std::sqrt(double(spec.dim)))) {}
  bool positive() const override { return true; }
  void visit(Visitor& visitor) override { visitor("weight", weight_); }

 protected:
  Var projected(Tape& tape, const Var& x) { return project_heads(x, tape(weight_)); }

 private:
  Parameter weight_;
};

/// elu(W x) + 1; F = m. Katharopoulos et al., 2020, without W.
class EluFeatures : public ProjectedFeatures {
 public:
  using ProjectedFeatures::ProjectedFeatures;
  Features features(Tape& tape, const Var& x) override {
    const Var u = projected(tape, x);
    // Computes elu(u) + 1 without cancellation far below 0.
    return relu(u) + exp(minimum(u, Var(zeros({1}))));
  }
};

/// relu(W x + b), learned per head; F = m. Kasai et al., "T2R", 2021.
class T2RFeatures : public ProjectedFeatures {
 public:
  explicit T2RFeatures(const FeatureSpec& spec)
      : ProjectedFeatures(spec), bias_({spec.heads, spec.m}) {}
  Features features(Tape& tape, const Var& x) override {
    return relu(projected(tape, x) + tape(bias_));
  }
  void visit(Visitor& visitor) override {
    ProjectedFeatures::visit(visitor);
    visitor("bias", bias_);
  }

 private:
  Parameter bias_;
};

/// [softmax(W x), softmax(-W x)]; F = 2m. Zhang et al., "Hedgehog", 2024.
class HedgehogFeatures : public ProjectedFeatures {
 public:
  using ProjectedFeatures::ProjectedFeatures;
  Features features(Tape& tape, const Var& x) override {
    const Var u = projected(tape, x);
    return concat({softmax(u), softmax(-u)}, -1);
  }
};

/// [1, y, y_i y_j packed], y = x / d^(1/4): phi(q) . phi(k) = 1 + s + s^2 / 2, s = q . k / sqrt(d),
/// at least 1/2; F = 1 + d + d (d + 1) / 2. Arora et al., "Based", 2024.
class TaylorFeatures : public PlainFeatures {
 public:
  explicit TaylorFeatures(const FeatureSpec&) {}
  bool has_signed_features() const override { return true; }
  Features features(Tape&, const Var& x) override {
    const Var y = softmax_scaled(x);
    Shape one = x.shape();
    one.back() = 1;
    return concat({filled(one, real(1)), y, packed_square(y)}, -1);
  }
  std::optional<double> kernel(Point q, Point k, std::size_t) const override {
    const double s = ScaledPair(q, k).xy;
    return 1 + s + s * s / 2;
  }
  std::optional<double> variance(Point, Point, std::size_t) const override { return 0; }
};

/// All products of gain * norm(y) + bias, y = x / d^(1/4): (u_q . u_k)^2 / 2 for learned affine
/// forms u per head; F = d (d + 1) / 2. Aksenov et al., "ReBased", 2024.
class RebasedFeatures : public FeatureMap {
 public:
  explicit RebasedFeatures(const FeatureSpec& spec)
      : gain_(filled({spec.heads, spec.dim}, real(1))), bias_({spec.heads, spec.dim}) {}
  Features features(Tape& tape, const Var& x) override {
    const std::size_t d = x.dim(-1);
    const Var normal = layer_norm(x, filled({d}, real(1)), zeros({d}));
    return packed_square(softmax_scaled(normal * tape(gain_) + tape(bias_)));
  }
  bool positive() const override { return true; }
  bool has_signed_features() const override { return true; }
  void visit(Visitor& visitor) override {
    visitor("gain", gain_);
    visitor("bias", bias_);
  }

 private:
  Parameter gain_, bias_;  // (H, d)
};

/// Returns x[.., (i - by) mod n].
Var rolled(const Var& x, std::size_t by) {
  const std::size_t n = x.dim(-1), cut = n - by % n;
  return concat({slice(x, -1, cut, n), slice(x, -1, 0, cut)}, -1);
}

/// Products of r(x) with its copies rolled by 1 .. n, r(x) = [relu(x), relu(-x)]; F = 2 d n. Schlag
/// et al., "Fast weight programmers", 2021.
class DpfpFeatures : public PlainFeatures {
 public:
  explicit DpfpFeatures(const FeatureSpec& spec) : rolls_(spec.rolls) {
    require(rolls_ > 0 && rolls_ < 2 * spec.dim, "dpfp", "rolls = ", rolls_,
            " must be at least 1 and below ", 2 * spec.dim);
  }
  Features features(Tape&, const Var& x) override {
    const Var positive = concat({relu(x), relu(-x)}, -1);
    std::vector<Var> parts;
    for (std::size_t by = 1; by <= rolls_; ++by) parts.push_back(positive * rolled(positive, by));
    return concat(parts, -1);
  }

 private:
  std::size_t rolls_;
};

/// Returns waves at positions first, first + 1, ... -> (T, 1, 1)
Var waves(std::size_t T, std::size_t first, std::size_t length, bool sine) {
  Tensor x = uninitialized({T, 1, 1});
  for (std::size_t t = 0; t < T; ++t) {
    const double angle = std::numbers::pi / 2 * double(first + t) / double(length);
    x.data()[t] = real(sine ? std::sin(angle) : std::cos(angle));
  }
  return Var(std::move(x));
}

/// relu(x) [cos(a t), sin(a t)] at position t, a = pi / (2 M): relu(q) . relu(k) cos(a lag), with M
/// = length, above any lag; F = 2d. Qin et al., "cosFormer", 2022.
class CosformerFeatures : public TwoSidedMap {
 public:
  explicit CosformerFeatures(const FeatureSpec& spec) : length_(spec.length) {}
  bool positive() const override { return true; }
  void visit(Visitor&) override {}

 protected:
  Features side(Tape&, const Var& x, Side, std::size_t first) override {
    const std::size_t T = x.dim(1);
    require(first + T <= length_, "cosformer", "position ", first + T - 1,
            " is beyond length = ", length_, "; raise model.mixer.features.length");
    const Var positive = relu(x), cosine = waves(T, first, length_, false);
    return concat({positive * cosine, positive * waves(T, first, length_, true)}, -1);
  }

 private:
  std::size_t length_;
};

}  // namespace

void add_pointwise(FeatureMaps& all) {
  all.add("identity", make<IdentityFeatures>, {.frequencies = false});
  all.add("elu", make<EluFeatures>, {.frequencies = false});
  all.add("relu", make<ReluFeatures>, {.frequencies = false});
  all.add("squared_relu", make<SquaredReluFeatures>, {.frequencies = false});
  all.add("t2r", make<T2RFeatures>, {.frequencies = false});
  all.add("hedgehog", make<HedgehogFeatures>, {.frequencies = false});
  all.add("taylor", make<TaylorFeatures>, {.frequencies = false});
  all.add("rebased", make<RebasedFeatures>, {.frequencies = false});
  all.add("dpfp", make<DpfpFeatures>, {.frequencies = false});
  all.add("cosformer", make<CosformerFeatures>, {.frequencies = false});
}

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Feature maps that estimate nothing: simple functions of x whose inner product is the kernel.
/// Most are what users of GPU libraries ask for by name.

#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// relu(x) + 0.001; F = d. Choromanski et al., "Performers", 2021.
class ReluFeatures : public FeatureMap {
 public:
  explicit ReluFeatures(const FeatureSpec&) {}
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  void visit(Visitor&) override {}
};

/// relu(x)^2; F = d.
class SquaredReluFeatures : public FeatureMap {
 public:
  explicit SquaredReluFeatures(const FeatureSpec&) {}
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  void visit(Visitor&) override {}
};

/// elu(W x) + 1, W (m, d) learned per head; F = m. Katharopoulos et al., 2020, who have no W.
class EluFeatures : public FeatureMap {
 public:
  explicit EluFeatures(const FeatureSpec& spec);
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  void visit(Visitor& visitor) override { visitor("weight", weight_); }

 private:
  Parameter weight_;
};

/// relu(W x + b), learned per head; F = m. Kasai et al., "T2R", 2021.
class T2RFeatures : public FeatureMap {
 public:
  explicit T2RFeatures(const FeatureSpec& spec);
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  void visit(Visitor& visitor) override;

 private:
  Parameter weight_, bias_;
};

/// [softmax(W x), softmax(-W x)], W (m, d) learned per head; F = 2m. Zhang et al., "Hedgehog",
/// 2024.
class HedgehogFeatures : public FeatureMap {
 public:
  explicit HedgehogFeatures(const FeatureSpec& spec);
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  void visit(Visitor& visitor) override { visitor("weight", weight_); }

 private:
  Parameter weight_;
};

/// [1, y, y_i y_j packed], y = x / d^(1/4): phi(q) . phi(k) = 1 + s + s^2 / 2, s = q . k / sqrt(d),
/// at least 1/2; F = 1 + d + d (d + 1) / 2. Arora et al., "Based", 2024.
class TaylorFeatures : public FeatureMap {
 public:
  explicit TaylorFeatures(const FeatureSpec&) {}
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override;
  std::optional<double> variance(Point q, Point k, std::size_t head) const override;
  void visit(Visitor&) override {}
};

/// All products of gain * norm(y) + bias, y = x / d^(1/4): (u_q . u_k)^2 / 2 of learned affine
/// forms u, one per head; F = d (d + 1) / 2. Aksenov et al., "ReBased", 2024.
class RebasedFeatures : public FeatureMap {
 public:
  explicit RebasedFeatures(const FeatureSpec& spec);
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  void visit(Visitor& visitor) override;

 private:
  Parameter gain_, bias_;  // (H, d)
};

/// r(x) times its copies rolled by 1 .. n, r(x) = [relu(x), relu(-x)]; F = 2 d n. Schlag et al.,
/// "Fast weight programmers", 2021.
class DpfpFeatures : public FeatureMap {
 public:
  explicit DpfpFeatures(const FeatureSpec& spec);
  Features features(Tape& tape, const Var& x) override;
  bool positive() const override { return true; }
  void visit(Visitor&) override {}

 private:
  std::size_t rolls_;
};

/// relu(x) [cos(a t), sin(a t)] at position t, a = pi / (2 M): relu(q) . relu(k) cos(a lag), M =
/// length of the config, which no lag reaches; F = 2d. Qin et al., "cosFormer", 2022.
class CosformerFeatures : public TwoSidedMap {
 public:
  explicit CosformerFeatures(const FeatureSpec& spec) : length_(spec.length) {}
  bool positive() const override { return true; }
  void visit(Visitor&) override {}

 protected:
  Features side(Tape& tape, const Var& x, Side side, std::size_t first) override;

 private:
  std::size_t length_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

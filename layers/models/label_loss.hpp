#pragma once
/// The training loss of classifiers.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/keys.hpp>
#include <bochner/layers/models/loss.hpp>
#include <memory>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct LabelLossSpec {
  LossSpec loss;
  double label_smoothing = 0;
  std::string class_weights = "none";
};
inline void describe_smoothing(Keys& keys, double& smoothing) {
  keys("label_smoothing", smoothing, below(0, 1),
       "share of the target that training spreads evenly over all classes or tokens");
}
inline void describe(Keys& keys, LabelLossSpec& spec) {
  describe(keys, spec.loss);
  keys.when(loss_is(keys, {"mse", "cross_entropy"}),
            [&] { describe_smoothing(keys, spec.label_smoothing); });
  keys.when(when("data.kind", {"labelled_series"}))(
      "class_weights", spec.class_weights, one_of({"none", "balanced"}),
      "weight of a series in the training loss: 1, or inversely proportional to the number of "
      "training series of its class, 1 on average (balanced)");
}

/// Returns n / (K n_k) for each class, so that all classes weigh the same; 1 for classes without
/// examples. counts: n_k examples of each class
std::vector<double> balanced_weights(const std::vector<double>& counts);

/// Returns the mean over examples of weight[label] times their cross-entropy with smoothing, see
/// cross_entropy(). Without weights all are 1. logits (n, K), labels (n), weights (K) -> ()
Var label_loss(const Var& logits, const Indices& labels, double smoothing,
               const std::vector<double>& weights = {});

/// Training loss of classifiers by a spec: label_loss() for cross entropy, else mean_loss().
class ClassLoss {
 public:
  /// `weights` of classes (K); none: 1.
  explicit ClassLoss(const LabelLossSpec& spec, std::vector<double> weights = {});
  /// logits (n, K), labels (n) -> ()
  Var operator()(const Var& logits, const Indices& labels) const;

 private:
  double smoothing_;
  std::vector<double> weights_;
  std::unique_ptr<LabelLoss> loss_;  // null for cross entropy
};

}  // namespace bochner::inline BOCHNER_PRECISION

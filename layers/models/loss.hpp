#pragma once
/// Training losses, named by model.loss.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/registry.hpp>
#include <memory>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Training loss: a function of outputs and targets, without parameters. Derive from LabelLoss,
/// ValueLoss or both.
class Loss {
 public:
  virtual ~Loss() = default;
};

/// Loss of labels, for language models and classifiers.
class LabelLoss : public virtual Loss {
 public:
  /// Returns the loss of each label, or their mean. Labels are from 0 to C - 1: rows without one
  /// are removed before. logits (n, C), labels (n) -> (n) or ()
  virtual Var of_labels(const Var& logits, const Indices& labels) const = 0;
};

/// Loss of numbers, for forecasters and regressors.
class ValueLoss : public virtual Loss {
 public:
  /// Returns the loss of each number, or their mean; numbers are in units of the training data.
  /// predicted (..), targets (..) -> (..) or ()
  virtual Var of_values(const Var& predicted, const Var& targets) const = 0;
};

struct LossSpec {
  std::string kind = "mse";
  OwnSpecs own = {};  ///< specs of custom losses
};
using Losses = Registry<Loss, LossSpec>;
/// Registry of training losses, named by model.loss; add custom ones here.
Losses& losses();

inline void describe(Keys& keys, LossSpec& spec) {
  keys("loss", spec.kind, one_of(losses, {"quantile", "gaussian", "nce", "sampled_softmax"}),
       "training loss. Forecasters and regressors: mse, mae, huber or quantile, in the unit of the "
       "training data; regressors also gaussian, the likelihood of a learned mean and deviation. "
       "Language models and classifiers: cross_entropy (also for mse); language models also nce or "
       "sampled_softmax, which draw noise tokens, for large vocabularies");
  losses().describe_own(keys, spec.own, "loss");
}
/// The loss has one of these names; custom losses do not fulfil it.
inline KeyCondition loss_is(const Keys& keys, std::vector<std::string> names) {
  KeyCondition condition = keys.is("loss", std::move(names));
  condition.only_named = true;
  return condition;
}

/// Returns whether models of labels train on cross_entropy(): also for the default "mse".
bool is_cross_entropy(const LossSpec& spec);

/// Makes a loss. Throws std::invalid_argument for an unknown name, and for a loss of the other
/// sort.
std::unique_ptr<LabelLoss> make_label_loss(const LossSpec& spec);
std::unique_ptr<ValueLoss> make_value_loss(const LossSpec& spec);

/// Returns the mean loss over labels other than -1, each times the weight of its class if there are
/// weights (C). Zero without labels. Throws std::invalid_argument for a loss of another shape, and
/// for weights of a loss that returns its mean. logits (.., C), labels (..) -> ()
Var mean_loss(const LabelLoss& loss, const Var& logits, const Indices& labels,
              const std::vector<double>& class_weights = {});
/// Returns the mean loss over values. predicted (..), targets (..) -> ()
Var mean_loss(const ValueLoss& loss, const Var& predicted, const Tensor& targets);

/// Returns ln softmax(logits)[label] of each row. logits (n, C), labels (n) -> (n)
Var label_log_probabilities(const Var& logits, const Indices& labels);

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Losses for large vocabularies that use the logits of the targets and of sampled noise classes
/// only. Time and memory grow with the number of sampled classes.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/shape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Classes drawn from a distribution q with replacement, the same for all rows of a batch.
struct NoiseClasses {
  std::vector<std::int32_t> classes;  ///< distinct, ascending
  std::vector<std::size_t> counts;    ///< how often each was drawn
  std::vector<double> log_rates;      ///< ln(k q) of all V classes, k the number of draws
};

/// Returns the mean over labels != -1 of -ln(e^t / (e^t + sum over draws c != label of e^s_c / (k
/// q_c))), t and s the logits x w + bias of label and draws. The sum is unbiased for that over all
/// other classes, so value and gradient approach cross_entropy() as k grows. Bengio and Senecal,
/// "Adaptive importance sampling to accelerate training of a neural probabilistic language model",
/// 2008. Zero if all labels are ignored. x (.., D), w (D, V), bias (V), labels (..) -> ()
Var sampled_softmax(const Var& x, const Var& w, const Var& bias, const Indices& labels,
                    const NoiseClasses& noise);

/// Returns the mean over labels != -1 of -ln sigmoid(t - log_z - ln(k q)) - sum over draws of ln
/// sigmoid(-(s - log_z - ln(k q))): whether a class is the label or one of k draws. Minimal where
/// e^(logit - log_z) is the normalised probability of the class. Draws equal to the label are kept:
/// without them the minimum would be at the odds p / (1 - p). Gutmann and Hyvarinen,
/// "Noise-contrastive estimation", 2010; Mnih and Teh, 2012. Zero if all labels are ignored. x (..,
/// D), w (D, V), bias (V), log_z (1), labels (..) -> ()
Var noise_contrastive(const Var& x, const Var& w, const Var& bias, const Var& log_z,
                      const Indices& labels, const NoiseClasses& noise);

}  // namespace bochner::inline BOCHNER_PRECISION

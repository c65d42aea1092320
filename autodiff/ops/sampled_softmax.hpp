#pragma once
/// Losses of large vocabularies that see the logits of the targets and of some classes drawn as
/// noise, in place of all. Time and memory go with the classes drawn.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/shape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Classes drawn from a distribution q with replacement, the same for all rows of a batch.
struct NoiseClasses {
  std::vector<std::int32_t> classes;  ///< each once, ascending
  std::vector<std::size_t> counts;    ///< how often each was drawn
  std::vector<double> log_rates;      ///< ln(k q) of all V classes, k the number of draws
};

/// Mean over labels != -1 of -ln(e^t / (e^t + sum over draws c != label of e^s_c / (k q_c))), t and
/// s the logits x w + bias of label and draws: the sum is unbiased for that over all other classes,
/// so that value and gradient become those of cross_entropy() as k grows. Bengio and Senecal,
/// "Adaptive importance sampling to accelerate training of a neural probabilistic language model",
/// 2008. Zero if no label counts. x (.., D), w (D, V), bias (V), labels (..) -> ()
Var sampled_softmax(const Var& x, const Var& w, const Var& bias, const Indices& labels,
                    const NoiseClasses& noise);

/// Mean over labels != -1 of -ln sigmoid(t - log_z - ln(k q)) - sum over draws of
/// ln sigmoid(-(s - log_z - ln(k q))): whether a class is the label or one of k draws. Least where
/// e^(logit - log_z) is the probability of the class, itself and not up to a factor. Draws of the
/// label stay: without them it would be least at the odds p / (1 - p). Gutmann and Hyvarinen,
/// "Noise-contrastive estimation", 2010; Mnih and Teh, 2012. Zero if no label counts. x (.., D), w
/// (D, V), bias (V), log_z (1), labels (..) -> ()
Var noise_contrastive(const Var& x, const Var& w, const Var& bias, const Var& log_z,
                      const Indices& labels, const NoiseClasses& noise);

}  // namespace bochner::inline BOCHNER_PRECISION

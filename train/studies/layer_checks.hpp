#pragma once
/// Properties of custom layers in addition to their gradients, checked on small models.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <functional>

namespace bochner {

/// Returns the largest relative difference of logits in a batch from those alone. tokens (B, T)
double batch_error(LanguageModel& model, const Indices& tokens);

/// Returns the largest such difference of logits from those of the first tokens without the rest,
/// at all cuts of short texts: rounding alone if no token sees later ones. tokens (B, T), T > 1
double future_error(LanguageModel& model, const Indices& tokens);

/// Returns the largest such difference of the steps of texts in turn, each with its state, from the
/// steps of one text after the other: 0 unless a module keeps what belongs in the state. Throws
/// NoSteps. tokens (B, T)
double interleaved_error(LanguageModel& model, const Indices& tokens);

/// Returns the names of parameters that a loss gives no gradient.
std::vector<std::string> unused_parameters(const std::vector<NamedParameter>& parameters,
                                           const std::function<Var(Tape&)>& loss);

/// Returns the relative error of a loss's slope along a random direction of all parameters, against
/// central differences; 0 in float, where they are too coarse.
double slope_error(const std::vector<NamedParameter>& parameters,
                   const std::function<Var(Tape&)>& loss);

/// Returns the largest such difference of outputs at the first lengths[b] tokens of each text; the
/// rest is padding, once as in `tokens` and once cut to the longest text. tokens (B, T)
double padding_error(Trunk& trunk, const Indices& tokens, const std::vector<std::size_t>& lengths);

/// Returns how far features, or weights phi(q) . phi(k), are below 0 if the map declares them
/// nonnegative, relative to the largest; 0 otherwise. x (1, T, H, d)
double sign_error(FeatureMap& map, const Tensor& x);

}  // namespace bochner

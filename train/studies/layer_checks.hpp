#pragma once
/// Properties of custom layers in addition to their gradients, checked on small models.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <optional>

namespace bochner {

/// Returns the largest relative difference of logits in a batch from those alone. tokens (B, T)
double batch_error(LanguageModel& model, const Indices& tokens);

/// Returns the largest such difference of outputs at the first lengths[b] tokens of each text; the
/// rest is padding, once as in `tokens` and once cut to the longest text. tokens (B, T)
double padding_error(Trunk& trunk, const Indices& tokens, const std::vector<std::size_t>& lengths);

/// Returns how far features, or weights phi(q) . phi(k), are below 0 if the map declares them
/// nonnegative, relative to the largest; 0 otherwise. x (1, T, H, d)
double sign_error(FeatureMap& map, const Tensor& x);

/// Returns the largest distance of the closed form k(delta) from the mean over many draws, in
/// standard errors, after moving the parameters; empty if the density has no closed form.
std::optional<double> closed_form_error(const std::string& density);

}  // namespace bochner

#pragma once
/// What layers of one's own must keep besides their gradients, measured on small models.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <optional>

namespace bochner {

/// The largest difference between the logits of texts side by side and those of each by itself,
/// relative to the largest logit. tokens (B, T)
double batch_error(LanguageModel& model, const Indices& tokens);

/// The same of the outputs at the first lengths[b] tokens of each text: what stands behind is
/// padding, once as in `tokens` and once cut to the longest text. tokens (B, T)
double padding_error(Trunk& trunk, const Indices& tokens, const std::vector<std::size_t>& lengths);

/// How far below 0 features are, or weights phi(q) . phi(k), where the map says that they are not,
/// relative to the largest; 0 where it says nothing. x (1, T, H, d)
double sign_error(FeatureMap& map, const Tensor& x);

/// The largest distance of the closed form k(delta) from the mean over many draws, in standard
/// errors, after parameters have been moved; empty where the density has no closed form.
std::optional<double> closed_form_error(const std::string& density);

}  // namespace bochner

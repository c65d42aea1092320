#pragma once
/// What all exponential feature maps share.

#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// y = x / d^(1/4), so that y . y' = x . x' / sqrt(d). (.., d) -> (.., d)
Var softmax_scaled(const Var& x);

/// The same of samples of one head, in double. (n, H, d), n > 0 -> (n, d)
std::vector<double> scaled_samples(const Tensor& samples, std::size_t head, std::size_t d);

/// log phi_i(x) = w_i . y - c |y|^2 + offset_i - log(m) / 2, y = x / d^(1/4): logarithms of
/// exponential features, normalised so that phi(x) . phi(x') is a mean over i. `offset` (H, m) may
/// be left out.
/// (B, T, H, d), (H, m, d) -> (B, T, H, m)
Var exponents(const Var& x, const Var& w, double c, const Var& offset = {});
/// The features themselves, as a rule that attention follows in cache.
Features exponential(const Var& x, const Var& w, double c, const Var& offset = {});

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
#include <bochner/train/tasks/task.hpp>
#include <functional>
#include <map>
#include <optional>

namespace bochner {

/// Measures the signal-to-noise ratio |g| / s of the gradient of each layer's spectral parameters
/// (is_density()), by the layer's name, and of all parameters under "": g is its mean over batches
/// and s^2 the trace of their covariance, with |g|^2 corrected for its bias s^2 / n. About 0 for
/// pure noise, 1 if one batch has as much signal as noise, infinite if all batches agree up to
/// rounding, NaN for gradients that are not finite. Evaluates `count` >= 2 batches of `examples`
/// from `first` on; leaves gradients at zero. Returns nothing if `should_stop` does so between
/// batches. McCandlish et al., "Large-batch training", 2018.
std::optional<std::map<std::string, double>> gradient_to_noise(
    Task& task, std::uint64_t first, std::uint64_t examples, std::size_t count,
    const std::function<bool()>& should_stop = {});

/// Returns the ratio for a sum of n gradients and the sum of the squares of all their elements.
double signal_to_noise(const std::vector<double>& sum, double squares, double n);

}  // namespace bochner

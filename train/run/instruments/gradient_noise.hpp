#pragma once
#include <bochner/train/tasks/task.hpp>
#include <functional>
#include <map>
#include <optional>

namespace bochner {

/// How clearly batches tell a group of parameters where to go: |g| / s, g the mean of its gradient
/// over batches and s^2 the trace of their covariance, with |g|^2 freed of its bias s^2 / n: about
/// 0 where a gradient is noise alone, 1 where one batch is as much signal as noise, infinite where
/// all batches agree but for roundings, NaN where a gradient is not finite. Of what each layer
/// learns of its spectra (is_density()), by the layer's name; from `count` >= 2 training batches of
/// `examples`, beginning with `first`, evaluated: nothing of the model or of a run changes but that
/// gradients are zero afterwards. `should_stop` is asked between batches; nothing is returned when
/// it says yes. McCandlish et al., "Large-batch training", 2018.
std::optional<std::map<std::string, double>> gradient_to_noise(
    Task& task, std::uint64_t first, std::uint64_t examples, std::size_t count,
    const std::function<bool()>& should_stop = {});

/// That of a sum of n gradients with this sum of the squares of all elements.
double signal_to_noise(const std::vector<double>& sum, double squares, double n);

}  // namespace bochner

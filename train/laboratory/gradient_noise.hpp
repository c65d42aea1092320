#pragma once
#include <bochner/train/tasks/task.hpp>
#include <map>

namespace bochner::inline BOCHNER_PRECISION {

/// How clearly batches tell a group of parameters where to go: |g| / s, g the mean of its gradient
/// over batches and s^2 the trace of their covariance, with |g|^2 freed of its bias s^2 / n: about
/// 0 where a gradient is noise alone, 1 where one batch is as much signal as noise. Of what each
/// layer learns of its spectra (is_density()), by the layer's name; from `count` >= 2 training
/// batches of `examples`, beginning with `first`, evaluated: nothing of the model or of a run
/// changes but that gradients are zero afterwards. McCandlish et al., "Large-batch training", 2018.
std::map<std::string, double> gradient_to_noise(Task& task, std::uint64_t first,
                                                std::uint64_t examples, std::size_t count);

}  // namespace bochner::inline BOCHNER_PRECISION

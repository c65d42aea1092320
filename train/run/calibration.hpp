#pragma once
/// What a new run takes from its first training batches before its first step.

#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

struct CalibrationSpec {
  std::int64_t batches = -1;  ///< -1: as many as are needed, see MixerSpec::calibrate
  std::size_t examples = 16;  ///< of a batch
  std::uint64_t seed = 1;
  bool densities = false;  ///< whether densities start at the data
  bool overfit = false;    ///< there is one batch only
};
CalibrationSpec calibration_spec(const Config& config);

/// Sets the feature maps of attention layers, and their densities if they start at the data, to
/// queries and keys of the first training batches, which are not used up by that. All batches go
/// through the model at once and each layer is set when its queries and keys are there, before it
/// uses them: later layers see what the earlier ones have become. Of each layer 1024 tokens are
/// taken, a function of the seed; padding is not. Only layers that are `wanted`, all without it.
void calibrate_model(Task& task, const CalibrationSpec& spec,
                     const std::function<bool(const std::string& layer)>& wanted = {});

}  // namespace bochner

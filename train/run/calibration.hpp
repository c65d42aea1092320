#pragma once
/// Calibration of a new run on its first training batches, before its first step.

#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

struct CalibrationSpec {
  std::int64_t batches = -1;  ///< -1: as many as needed, see MixerSpec::calibrate
  std::size_t examples = 16;  ///< per batch
  std::uint64_t seed = 1;
  bool densities = false;  ///< whether densities start at the data
  bool overfit = false;    ///< there is only one batch
};
CalibrationSpec calibration_spec(const Config& config);

/// Calibrates the feature maps of attention layers, and their densities if these start at the data,
/// on queries and keys of the first training batches, which are not consumed. All batches pass
/// through the model at once; each layer is calibrated before it uses its queries and keys, so
/// later layers see calibrated ones. Takes 1024 tokens per layer, chosen by the seed, without
/// padding. Only `wanted` layers are calibrated; all if it is empty.
void calibrate_model(Task& task, const CalibrationSpec& spec,
                     const std::function<bool(const std::string& layer)>& wanted = {});

}  // namespace bochner

#pragma once
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {

/// Returns whether fields are films from files, in the unit of the data, and not generated.
inline bool reads_films(const Config& config) { return config.text("data.kind") == "field_files"; }

std::unique_ptr<Task> open_field_task(const Config& config, const KnownFacts& known);
std::unique_ptr<Task> open_sensor_task(const Config& config, const KnownFacts& known);

}  // namespace bochner

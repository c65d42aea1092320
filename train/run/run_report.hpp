#pragma once
/// The first part of the report of a run: how the training went.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/metrics.hpp>
#include <bochner/train/run/trainer_state.hpp>

namespace bochner {

/// Large numbers and learning curves.
void add_learning(Page& page, const MetricsLog& log, const TrainerState& state,
                  std::size_t parameters, const std::string& loss_unit);

}  // namespace bochner

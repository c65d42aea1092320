#pragma once
/// The first part of the report of a run: how the training went.

#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/metrics.hpp>
#include <bochner/train/run/trainer_state.hpp>

namespace bochner {

struct RunReport {
  std::string title, model, data, loss_unit;
  TrainerState state;
  std::size_t parameters = 0;
};
/// Large numbers and learning curves.
void add_learning(Page& page, const RunReport& report, const MetricsLog& log);

}  // namespace bochner

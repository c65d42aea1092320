#pragma once
#include <bochner/data/tables/table_rows.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Returns the held-out rows, in the units of the model.
Observations rows_of_examples(const TableRows& data, const HeldOut& held);

/// Returns the RMSE on held-out rows of the mean of the training targets, and of ridge regression
/// with penalty 1 (Hoerl and Kennard, "Ridge regression", 1970) if there are at most 1024 inputs.
/// Inputs are standardized.
std::vector<Score> naive_regressions(const Observations& training, const Observations& held);

}  // namespace bochner

#pragma once
#include <bochner/train/tasks/tables/table_ensemble_learner.hpp>

namespace bochner {

class Page;

/// Returns a table of the members, then a line that compares the ensemble with naive answers.
std::vector<std::string> ensemble_verdict(TableEnsembleLearner& learner);
/// Adds sections on the held-out rows of the competition, in the unit of the data.
void add_ensemble(Page& page, TableEnsembleLearner& learner);

}  // namespace bochner

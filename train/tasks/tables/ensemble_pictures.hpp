#pragma once
#include <bochner/train/tasks/tables/table_ensemble_learner.hpp>
#include <bochner/train/tasks/verdict.hpp>

namespace bochner {

class Page;

/// Returns the score on the held-out rows of the competition beside naive answers, with a table of
/// the members.
Verdict ensemble_verdict(TableEnsembleLearner& learner);
/// Adds sections on the held-out rows of the competition, in the unit of the data.
void add_ensemble(Page& page, TableEnsembleLearner& learner);

}  // namespace bochner

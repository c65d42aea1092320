#pragma once
/// Pictures of the filters of a bank.

#include <bochner/layers/models/filter_bank_model.hpp>
#include <bochner/train/tasks/labels/series_data.hpp>

namespace bochner {

/// Adds for each class, of six at most, the features that add the most to its score on average over
/// its series: the filter, and the rows that it counts in the series where it adds the most.
void add_deciding_filters(Page& page, FilterBankModel& model,
                          const std::vector<std::string>& classes,
                          const LabelledSeriesBatch& series);

}  // namespace bochner

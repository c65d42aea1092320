#pragma once
#include <bochner/data/tables/table_rows.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <functional>

namespace bochner {

class Page;

/// Predicts rows in the units of the model.
using PredictRows = std::function<ProcessPrediction(const Observations& rows)>;

/// Adds sections on the predictions and on the kernel, in the units of the data.
void add_process(Page& page, GaussianProcess& model, const TableRows& data,
                 const PredictRows& predict);

}  // namespace bochner

#pragma once
/// Pictures of a Gaussian process: bands around the mean, spectra, kernels, and what it has learned
/// in words.

#include <bochner/data/table_rows.hpp>
#include <bochner/layers/processes/gaussian_process.hpp>
#include <functional>

namespace bochner {
class Page;
}

namespace bochner::inline BOCHNER_PRECISION {

/// Of rows in the units of `data`.
using PredictRows = std::function<ProcessPrediction(const Observations& rows)>;

/// Adds sections on the predictions and on the kernel, in the units of the data.
void add_process(Page& page, GaussianProcess& model, const TableRows& data,
                 const PredictRows& predict);

}  // namespace bochner::inline BOCHNER_PRECISION

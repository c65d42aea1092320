#pragma once
/// Test rows of Gaussian processes, and their likelihoods.

#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace process_rows {

struct Rows {
  std::vector<std::vector<double>> inputs;
  std::vector<double> targets;
  ProcessRows view() const { return {inputs, targets}; }
};

/// Returns irregular places, and waves with noise of this deviation.
inline Rows rows_of(std::size_t n, std::size_t inputs, double noise, std::uint64_t stream) {
  const RandomFunction random{7, Purpose::test, stream};
  Rows rows{std::vector<std::vector<double>>(inputs), {}};
  for (std::size_t i = 0; i < n; ++i) {
    double y = noise * random.normal(8 * i + 7);
    for (std::size_t j = 0; j < inputs; ++j) {
      rows.inputs[j].push_back(random.normal(8 * i + j));
      y += std::sin(2 * rows.inputs[j].back());
    }
    rows.targets.push_back(y);
  }
  return rows;
}

/// Makes a process initialized from these rows.
inline std::unique_ptr<GaussianProcess> process_of(const GaussianProcessSpec& spec,
                                                   const Rows& rows) {
  auto process = std::make_unique<GaussianProcess>(spec);
  initialize(*process, 1);
  process->start(rows.view());
  return process;
}

inline double likelihood_of(GaussianProcess& process, const Rows& rows) {
  Tape tape({.recording = false});
  return double(process.log_likelihood(tape, rows.view()).value().data()[0]);
}

}  // namespace process_rows
}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Which learning-rate factor and weight decay each parameter gets, by patterns on dotted names.

#include <bochner/autodiff/tape.hpp>
#include <bochner/optim/parameter_group.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct ParameterSettings {
  double lr_factor = 1;
  double weight_decay = 0;
};

/// Settings of each parameter: `weight_decay` for matrices, none for norms and biases (rank < 2)
/// and for spectral parameters (below `features`, `density`, `time_kernel` or `time`, and those
/// called `frequencies`), then the groups in order: the last one that matches wins. Throws when a
/// group matches nothing.
std::vector<ParameterSettings> resolve_groups(const std::vector<NamedParameter>& parameters,
                                              double weight_decay,
                                              const std::vector<ParameterGroup>& groups);

}  // namespace bochner::inline BOCHNER_PRECISION

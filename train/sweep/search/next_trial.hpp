#pragma once
/// Choice of the next trial: a function of the seed and of the trials before, so that a killed
/// search continues as if it had not been killed.

#include <bochner/train/sweep/search/halving.hpp>
#include <bochner/train/sweep/search/pareto.hpp>
#include <bochner/train/sweep/search/space.hpp>
#include <bochner/train/sweep/search/surrogate.hpp>

namespace bochner {

enum class SearchKind { grid, random, sobol, bayes };
/// Parses "bayes"; throws std::invalid_argument with the choices.
SearchKind parse_search(const std::string& name);
std::string name_of(SearchKind kind);

/// Trial: its values and its scores so far.
struct Tried {
  Values values;
  std::vector<Scores> reached = {};  ///< at the reached rungs; none before the first
  bool failed = false;               ///< worse than all others, at any rung
};

struct SearchSpec {
  SearchKind kind = SearchKind::bayes;  ///< except grid
  std::uint64_t seed = 1;
  std::size_t rungs = 1;  ///< of early stopping; 1 for none
};

/// Number of initial trials of `bayes`, which are Sobol points.
inline constexpr std::size_t initial_trials = 10;

/// Returns the values of trial number `before.size()`: for `bayes`, where a Gaussian process
/// through the scores expects the largest improvement; otherwise, and while there are too few
/// scores, the next untried Sobol or random point. Failed trials have the worst score, running ones
/// their expected score. Nothing if no point is left.
std::optional<Values> next_trial(const SearchSpec& spec, const Space& space,
                                 const std::vector<Tried>& before);

/// Returns the Gaussian process of the scores, standardised; nothing before there are enough, or if
/// their matrix is not positive definite.
std::optional<Surrogate> surrogate_of(const SearchSpec& spec, const Space& space,
                                      const std::vector<Tried>& before);

/// Replaces scores by those that the process of a `bayes` search expects at the end, for
/// next_promotion(): a rung that tells little about the end then decides little. Returns them
/// unchanged without a process, or if none waits. `progress` is that of `before`.
std::vector<TrialProgress> extrapolated(const SearchSpec& spec, const Space& space,
                                        const std::vector<Tried>& before,
                                        std::vector<TrialProgress> progress);

/// Returns the part of the scores' variance over the space that remains if all keys but one are
/// fixed: total effects of the surrogate's mean, which may sum to more than 1. Sobol, 2001, by the
/// estimator of Jansen, 1999. -> (size(),)
std::vector<double> importance(const Space& space, const Surrogate& surrogate);

}  // namespace bochner

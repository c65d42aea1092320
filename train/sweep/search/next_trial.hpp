#pragma once
/// The next values to try: a function of the seed and of what was tried before, so that a search
/// that is killed goes on as if it had not been.

#include <bochner/train/sweep/search/halving.hpp>
#include <bochner/train/sweep/search/pareto.hpp>
#include <bochner/train/sweep/search/space.hpp>
#include <bochner/train/sweep/search/surrogate.hpp>

namespace bochner {

enum class SearchKind { grid, random, sobol, bayes };
/// "bayes"; throws std::invalid_argument with the choices.
SearchKind parse_search(const std::string& name);
std::string name_of(SearchKind kind);

/// Values that were proposed, and what came out so far.
struct Tried {
  Values values;
  std::vector<Scores> reached = {};  ///< at the rungs that it reached; none while the first runs
  bool failed = false;               ///< worse than all others, wherever it was
};

struct SearchSpec {
  SearchKind kind = SearchKind::bayes;  ///< but grid
  std::uint64_t seed = 1;
  std::size_t rungs = 1;  ///< of early stopping; 1 for none
};

/// Proposals of `bayes` before this number are Sobol points.
inline constexpr std::size_t first_proposals = 10;

/// Proposal number `before.size()`: of `bayes` where a Gaussian process through the scores expects
/// most of it, else, and as long as there are too few scores, the next of the Sobol or random
/// points that was not tried yet. A failed trial has the worst score, one that runs the score that
/// is expected. Nothing where no point is left.
std::optional<Values> propose(const SearchSpec& spec, const Space& space,
                              const std::vector<Tried>& before);

/// The Gaussian process behind a proposal, in standardised scores; nothing before there are enough,
/// or where their matrix has no factor.
std::optional<Surrogate> surrogate_of(const SearchSpec& spec, const Space& space,
                                      const std::vector<Tried>& before);

/// Trials whose scores are what the process of a `bayes` search expects of them at the end, for
/// next_promotion(): a rung that says little of the end decides little. As they are where there is
/// no process, or none waits. `climbs` are those of `before`.
std::vector<TrialProgress> extrapolated(const SearchSpec& spec, const Space& space,
                                        const std::vector<Tried>& before,
                                        std::vector<TrialProgress> climbs);

/// How much of the variance of the scores over the space goes away if a key is fixed where all
/// others are: total effects of the surrogate's mean, which may sum to more than 1. Sobol, 2001, by
/// the estimator of Jansen, 1999. -> (size(),)
std::vector<double> importance(const Space& space, const Surrogate& surrogate);

}  // namespace bochner

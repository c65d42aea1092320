#pragma once
/// Choice of the next trial to start or to promote: a function of the seed and of the trials
/// before, so that a killed search continues as if it had not been killed.

#include <bochner/train/sweep/search/goal.hpp>
#include <bochner/train/sweep/search/surrogate.hpp>
#include <optional>

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

/// Successive halving: trials wait at rungs, and the better ones that reached a rung continue.
struct TrialProgress {
  std::vector<double> scores;  ///< at the reached rungs in order; smaller is better
  bool waits = false;          ///< at the last one, and may be promoted
};

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

/// Returns the steps of the rungs, the last of them `steps`: each `factor` times the one before,
/// the first at least `shortest`, or for 0 the third before the last, all but the last rounded up
/// to multiples of `every`, the period of validations.
std::vector<std::uint64_t> rungs_of(std::uint64_t steps, double factor, std::uint64_t shortest,
                                    std::uint64_t every);

/// Returns the trial to promote: on the highest rung where one waits that is among the best
/// 1/factor of all that reached it, failed ones too; ties go to the earlier trial. With `finish`,
/// as long as none has reached the end, it may be the best that waits on the highest rung. Nothing
/// if all must wait. Li et al., "A system for massively parallel hyperparameter tuning", 2020.
std::optional<std::size_t> next_promotion(const std::vector<TrialProgress>& trials,
                                          std::size_t rungs, double factor, bool finish);

struct ExpectedScore {
  double score, variance = 0;
};
/// Extrapolates each trial to the highest rung that any reached: its last score plus, per rung
/// above, the median change of those that continued, with its variance. NaN without a score.
std::vector<ExpectedScore> expected_scores(const std::vector<TrialProgress>& trials);

}  // namespace bochner

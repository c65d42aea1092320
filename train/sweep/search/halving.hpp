#pragma once
/// Early stopping: trials wait at rungs, and the better part of those that reached one goes on.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bochner {

/// How far a trial has come.
struct TrialProgress {
  std::vector<double> scores;  ///< at the rungs that it reached, smaller is better, in order
  bool waits = false;          ///< at the last of them: it may be promoted
};

/// Steps of the rungs, the last of them `steps`: each `factor` times the one before, the first not
/// below `shortest`, of 0 the third before the last, all but the last rounded up to multiples of
/// `every`, the period of validations.
std::vector<std::uint64_t> rungs_of(std::uint64_t steps, double factor, std::uint64_t shortest,
                                    std::uint64_t every);

/// The trial that goes on next: on the highest rung where one waits that is among the best
/// 1/factor of all that reached it, failed ones too; ties go to the earlier trial. With `finish`,
/// as long as none has come to the end, it may be the best that waits on the highest rung. Nothing
/// where all have to wait. Li et al., "A system for massively parallel hyperparameter tuning",
/// 2020.
std::optional<std::size_t> next_promotion(const std::vector<TrialProgress>& trials,
                                          std::size_t rungs, double factor, bool finish);

struct ExpectedScore {
  double score, variance = 0;
};
/// What each trial would score on the highest rung that any reached: its last score and, for each
/// rung above, the median change of those that went on, whose changes tell how sure that is. NaN
/// for trials without a score.
std::vector<ExpectedScore> expected_scores(const std::vector<TrialProgress>& trials);

}  // namespace bochner

#pragma once
/// Successive halving: trials wait at rungs, and the better ones that reached a rung continue.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bochner {

struct TrialProgress {
  std::vector<double> scores;  ///< at the reached rungs in order; smaller is better
  bool waits = false;          ///< at the last one, and may be promoted
};

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

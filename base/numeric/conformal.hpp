#pragma once
/// Conformal prediction: intervals and p-values from scores of held-out examples. They hold for
/// exchangeable examples, whatever the model. Vovk, Gammerman, Shafer, "Algorithmic learning in a
/// random world", 2005.

#include <cstddef>
#include <deque>
#include <vector>

namespace bochner {

/// Returns the bound that a further score exceeds with a probability of at most 1 - level: the
/// ceil((n + 1) level)-th smallest of n scores; infinity if there are fewer.
double conformal_quantile(std::vector<double> scores, double level);

/// Ranks of further scores among held-out ones.
class ConformalRanks {
 public:
  /// Throws std::invalid_argument without scores.
  explicit ConformalRanks(std::vector<double> scores);
  /// Returns (1 + number of held-out scores at least as large) / (n + 1).
  double p_value(double score) const;
  /// Returns -ln p_value(); above the 90 % quantile an exponential tail with the mean excess of the
  /// held-out scores replaces the ranks, so that larger scores always have larger surprise.
  double surprise(double score) const;

 private:
  std::vector<double> sorted_;
  double threshold_ = 0, excess_ = 0;
};

/// Intervals whose coverage is right over time, whatever the drift: the level rises after a miss
/// and falls after a hit, and recent scores replace held-out ones. Gibbs, Candes, "Adaptive
/// conformal inference under distribution shift", 2021.
class AdaptiveConformal {
 public:
  AdaptiveConformal(std::vector<double> scores, double level, double rate = 0.005);
  /// Returns the bound of the next score; at most the largest score that is known.
  double bound() const;
  /// Learns a score, and the bound() that it had.
  void observe(double score, double bound);

 private:
  std::vector<double> sorted_;
  std::deque<double> in_order_;
  double miss_, wanted_, rate_;  ///< current and wanted probability of a miss
};

}  // namespace bochner

#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/train/sweep/search/halving.hpp>
#include <cmath>

namespace bochner {
namespace {

/// Compares scores; NaN is worse than everything.
bool is_lower(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

/// Returns the trials that reached a rung, best first.
std::vector<std::size_t> ranked_on(const std::vector<TrialProgress>& trials, std::size_t rung) {
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (trials[i].scores.size() > rung) there.push_back(i);
  std::ranges::stable_sort(there, [&](std::size_t a, std::size_t b) {
    return is_lower(trials[a].scores[rung], trials[b].scores[rung]);
  });
  return there;
}

/// Returns the median change of scores from the rung before to this one, over the trials that came
/// so far, and their variance around it; nothing if none came.
std::optional<ExpectedScore> usual_change(const std::vector<TrialProgress>& trials,
                                          std::size_t rung) {
  std::vector<double> changes;
  for (const auto& [scores, waits] : trials) {
    const double change = rung < scores.size() ? scores[rung] - scores[rung - 1] : std::nan("");
    if (!std::isnan(change)) changes.push_back(change);
  }
  if (changes.empty()) return std::nullopt;
  ExpectedScore usual{median(changes)};
  for (const double change : changes)
    usual.variance += (change - usual.score) * (change - usual.score) /
                      double(std::max<std::size_t>(1, changes.size() - 1));
  return usual;
}

}  // namespace

std::vector<std::uint64_t> rungs_of(std::uint64_t steps, double factor, std::uint64_t shortest,
                                    std::uint64_t every) {
  std::vector<std::uint64_t> rungs{steps};
  const double least = shortest > 0 ? double(shortest) : double(steps) / factor / factor / factor;
  for (double at = double(steps) / factor; at >= least; at /= factor) {
    const std::uint64_t rung = round_up(std::uint64_t(std::ceil(at)), every);
    if (rung < rungs.back()) rungs.push_back(rung);
    if (rung <= every) break;
  }
  std::ranges::reverse(rungs);
  return rungs;
}

std::optional<std::size_t> next_promotion(const std::vector<TrialProgress>& trials,
                                          std::size_t rungs, double factor, bool finish) {
  const auto waiting_on = [&](std::size_t rung, std::size_t best) -> std::optional<std::size_t> {
    const std::vector<std::size_t> there = ranked_on(trials, rung);
    for (std::size_t i = 0; i < std::min(best, there.size()); ++i) {
      const TrialProgress& trial = trials[there[i]];
      if (trial.waits && trial.scores.size() == rung + 1) return there[i];
    }
    return std::nullopt;
  };
  for (std::size_t rung = rungs - 1; rung-- > 0;) {
    const double there = double(ranked_on(trials, rung).size());
    if (const auto next = waiting_on(rung, std::size_t(there / factor))) return next;
  }
  const bool done = std::ranges::any_of(trials, [&](const TrialProgress& trial) {
    return trial.scores.size() == rungs && !std::isnan(trial.scores.back());
  });
  for (std::size_t rung = rungs - 1; finish && !done && rung-- > 0;)
    if (const auto next = waiting_on(rung, trials.size())) return next;
  return std::nullopt;
}

std::vector<ExpectedScore> expected_scores(const std::vector<TrialProgress>& trials) {
  std::vector<ExpectedScore> expected(trials.size(), {std::nan("")});
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (!trials[i].scores.empty()) expected[i].score = trials[i].scores.back();
  for (std::size_t rung = 1;; ++rung) {
    const std::optional<ExpectedScore> change = usual_change(trials, rung);
    if (!change) return expected;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (trials[i].scores.size() > rung) continue;
      expected[i].score += change->score;
      expected[i].variance += change->variance;
    }
  }
}

}  // namespace bochner

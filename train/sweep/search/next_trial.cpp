#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/low_discrepancy.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/train/sweep/search/next_trial.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bochner {
namespace {

constexpr const char* search_names[] = {"grid", "random", "sobol", "bayes"};
constexpr std::size_t tries = 4096, least_scores = 3;
constexpr std::uint64_t sobol_stream = std::uint64_t(1) << 41, random_stream = sobol_stream << 1;

std::set<Values> known_values(const std::vector<Tried>& before) {
  std::set<Values> known;
  for (const Tried& trial : before) known.insert(trial.values);
  return known;
}

std::optional<Values> next_sobol(const SearchSpec& spec, const Space& space,
                                 const std::vector<Tried>& before) {
  const std::vector<double> points =
      sobol_points(SobolRandomisation::owen, 1, tries + before.size(), space.size(),
                   {spec.seed, Purpose::sampling, sobol_stream});
  const std::set<Values> known = known_values(before);
  const auto found = first_unknown(space, points, known);
  return found ? found : space.find_unknown(std::vector<double>(space.size()), known);
}

std::optional<Values> next_random(const SearchSpec& spec, const Space& space,
                                  const std::vector<Tried>& before) {
  Draws draws({spec.seed, Purpose::sampling, random_stream + before.size()});
  std::vector<double> points(tries * space.size());
  for (double& number : points) number = draws.uniform();
  const std::set<Values> known = known_values(before);
  const auto drawn = first_unknown(space, points, known);
  points.resize(space.size());
  return drawn ? drawn : space.find_unknown(points, known);
}

/// Returns one score per trial; NaN for failed ones.
std::vector<ExpectedScore> single_scores(const SearchSpec& spec,
                                         const std::vector<const Tried*>& trials,
                                         std::uint64_t number) {
  if (spec.rungs > 1) {
    std::vector<TrialProgress> progress(trials.size());
    for (std::size_t i = 0; i < trials.size(); ++i)
      for (const Scores& scores : trials[i]->reached)
        if (!trials[i]->failed) progress[i].scores.push_back(scores.front());
    return expected_scores(progress);
  }
  std::vector<Scores> scored;
  for (const Tried* trial : trials)
    if (!trial->failed) scored.push_back(trial->reached.front());
  std::vector<ExpectedScore> scores(trials.size(), {std::nan("")});
  const bool several = !scored.empty() && scored.front().size() > 1;
  const std::vector<double> sums =
      several ? scalarised(scored, spec.seed, number) : std::vector<double>();
  for (std::size_t i = 0, next = 0; i < trials.size(); ++i) {
    if (trials[i]->failed) continue;
    scores[i].score = several ? sums[next] : scored[next].front();
    ++next;
  }
  return scores;
}

/// Returns where scores are cut: five times as far above the median of the first trials as the best
/// one is below. Later trials are near the best; their median would cut informative scores.
double worst_score(const std::vector<ExpectedScore>& scores) {
  std::vector<double> valid;
  for (const auto& [score, variance] : scores)
    if (!std::isnan(score)) valid.push_back(score);
  const double best = *std::ranges::min_element(valid), worst = *std::ranges::max_element(valid);
  valid.resize(std::min(valid.size(), initial_trials));
  std::ranges::sort(valid);
  const double middle = valid[valid.size() / 2];
  return middle > best ? std::min(worst, middle + 5 * (middle - best)) : worst;
}

/// Standardises to mean 0 and variance 1. Failed trials get the worst score, as one that diverged:
/// how bad it is carries no information.
void standardise(std::vector<ExpectedScore>& scores) {
  const double worst = worst_score(scores);
  double sum = 0, squares = 0;
  for (auto& [score, variance] : scores) {
    score = std::isnan(score) ? worst : std::min(score, worst);
    sum += score;
  }
  const double mean = sum / double(scores.size());
  for (const auto& [score, variance] : scores) squares += (score - mean) * (score - mean);
  const double all = squares > 0 ? squares / double(scores.size()) : 1;
  for (auto& [score, variance] : scores) {
    score = (score - mean) / std::sqrt(all);
    variance /= all;
  }
}

Surrogate with_running(const Surrogate& surrogate, const Space& space,
                       const std::vector<Tried>& before) {
  Scored data = surrogate.data();
  for (const Tried& trial : before) {
    const std::vector<double> place = space.place(trial.values);
    if (trial.reached.empty() && !trial.failed) data.add(place, surrogate.mean(place));
  }
  return Surrogate(data, surrogate.kernel());
}

double lowest_mean(const Surrogate& surrogate) {
  const Scored& data = surrogate.data();
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < data.count(); ++i) {
    const auto begin = data.points.begin() + std::ptrdiff_t(i * data.axes());
    lowest = std::min(lowest, surrogate.mean({begin, begin + std::ptrdiff_t(data.axes())}));
  }
  return lowest;
}

std::optional<Values> next_promising(const SearchSpec& spec, const Space& space,
                                     const std::vector<Tried>& before) try {
  const std::optional<Surrogate> surrogate = surrogate_of(spec, space, before);
  if (!surrogate) return next_sobol(spec, space, before);
  const Surrogate now = with_running(*surrogate, space, before);
  const auto found =
      most_promising(space, now, lowest_mean(now), known_values(before), spec.seed, before.size());
  return found ? found : next_sobol(spec, space, before);
} catch (const NotPositiveDefinite&) {
  return next_sobol(spec, space, before);
}

/// Compares scores; NaN is worse than everything.
bool is_lower(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

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

SearchKind parse_search(const std::string& name) {
  const auto found = std::ranges::find(search_names, name);
  if (found == std::end(search_names))
    throw std::invalid_argument("--search " + name + ": must be grid, random, sobol or bayes");
  return SearchKind(found - std::begin(search_names));
}

std::string name_of(SearchKind kind) { return search_names[std::size_t(kind)]; }

std::optional<Surrogate> surrogate_of(const SearchSpec& spec, const Space& space,
                                      const std::vector<Tried>& before) try {
  std::vector<const Tried*> trials;
  for (const Tried& trial : before)
    if (trial.failed || !trial.reached.empty()) trials.push_back(&trial);
  const auto scored =
      std::ranges::count(trials, false, [](const Tried* one) { return one->failed; });
  if (std::size_t(scored) < least_scores) return std::nullopt;
  std::vector<ExpectedScore> scores = single_scores(spec, trials, before.size());
  standardise(scores);
  Scored data;
  for (std::size_t axis = 0; axis < space.size(); ++axis)
    data.ordered.push_back(space.is_ordered(axis));
  for (std::size_t i = 0; i < trials.size(); ++i)
    data.add(space.place(trials[i]->values), scores[i].score, scores[i].variance);
  return Surrogate(data, fit_kernel(data));
} catch (const NotPositiveDefinite&) {
  return std::nullopt;
}

std::optional<Values> next_trial(const SearchSpec& spec, const Space& space,
                                 const std::vector<Tried>& before) {
  if (spec.kind == SearchKind::random) return next_random(spec, space, before);
  if (spec.kind == SearchKind::sobol || before.size() < initial_trials)
    return next_sobol(spec, space, before);
  return next_promising(spec, space, before);
}

std::vector<TrialProgress> extrapolated(const SearchSpec& spec, const Space& space,
                                        const std::vector<Tried>& before,
                                        std::vector<TrialProgress> progress) {
  if (spec.kind != SearchKind::bayes || std::ranges::none_of(progress, &TrialProgress::waits))
    return progress;
  const std::optional<Surrogate> surrogate = surrogate_of(spec, space, before);
  if (!surrogate) return progress;
  for (std::size_t i = 0; i < progress.size(); ++i) {
    const double expected = surrogate->mean(space.place(before[i].values));
    for (double& score : progress[i].scores)
      if (!std::isnan(score)) score = expected;
  }
  return progress;
}

std::vector<double> importance(const Space& space, const Surrogate& surrogate) {
  constexpr std::size_t count = 512;
  const std::size_t d = space.size();
  const std::vector<double> points =
      sobol_points(SobolRandomisation::owen, 1, count, 2 * d, {1, Purpose::sampling, 0});
  const auto score = [&](const std::vector<double>& point) {
    return surrogate.mean(space.place(space.at(point)));
  };
  std::vector<double> effects(d);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double* pair = points.data() + i * 2 * d;
    std::vector<double> point(pair, pair + d);
    const double here = score(point);
    sum += here;
    squares += here * here;
    for (std::size_t axis = 0; axis < d; ++axis) {
      std::vector<double> moved = point;
      moved[axis] = pair[d + axis];
      const double change = here - score(moved);
      effects[axis] += change * change / 2;
    }
  }
  const double variance = squares - sum * sum / double(count);
  for (double& effect : effects) effect = variance > 0 ? effect / variance : 0;
  return effects;
}

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

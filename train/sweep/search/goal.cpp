
#include <algorithm>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/sweep/search/goal.hpp>
#include <cmath>

namespace bochner {
namespace {

bool beats(const Scores& a, const Scores& b) {
  bool better = false;
  for (std::size_t goal = 0; goal < a.size(); ++goal) {
    if (a[goal] > b[goal]) return false;
    better = better || a[goal] < b[goal];
  }
  return better;
}

/// Draws uniformly from the simplex, as normalized exponential draws.
std::vector<double> random_weights(std::size_t goals, std::uint64_t seed, std::uint64_t number) {
  constexpr std::uint64_t weights_stream = std::uint64_t(1) << 40;  // not used by points
  Draws draws({seed, Purpose::sampling, weights_stream + number});
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t goal = 0; goal < goals; ++goal) {
    weights.push_back(-std::log(draws.uniform()));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace

Goal parse_goal(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  const std::string end = dot == text.npos ? "" : text.substr(dot);
  demand(dot > 0 && (end == ".min" || end == ".max"),
         "--goal {}: write METRIC.min or METRIC.max, such as valid.min", text);
  demand(text.find(',') == text.npos, "--goal {}: is not one goal; repeat --goal for each", text);
  return {text.substr(0, dot), end == ".max"};
}

std::vector<double> measure(const std::vector<Goal>& goals, std::string_view metrics,
                            std::uint64_t last_step) {
  std::vector<double> measured(goals.size(), std::nan(""));
  for_each_line(metrics, [&](std::string_view text, std::size_t) {
    const Json line = Json::parse(text);
    if (line["step"].number().value_or(0) > double(last_step)) return;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      const auto number = line[goals[i].metric].number();
      const bool better = number && !(goals[i].score(*number) >= goals[i].score(measured[i]));
      if (better) measured[i] = *number;
    }
  });
  return measured;
}

Scores scores_of(const std::vector<Goal>& goals, const std::vector<double>& measured) {
  Scores scores;
  for (std::size_t i = 0; i < goals.size(); ++i) scores.push_back(goals[i].score(measured[i]));
  return scores;
}

std::vector<std::size_t> pareto_front(const std::vector<Scores>& trials) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto beats_it = [&](const Scores& other) {
      return !other.empty() && beats(other, trials[i]);
    };
    if (!trials[i].empty() && std::ranges::none_of(trials, beats_it)) front.push_back(i);
  }
  return front;
}

std::vector<double> scalarised(const std::vector<Scores>& trials, std::uint64_t seed,
                               std::uint64_t number) {
  const std::size_t goals = trials.empty() ? 0 : trials.front().size();
  const std::vector<double> weights = random_weights(goals, seed, number);
  std::vector<double> largest(trials.size()), sum(trials.size());
  for (std::size_t goal = 0; goal < goals; ++goal) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Scores& scores : trials) {
      low = std::min(low, scores[goal]);
      high = std::max(high, scores[goal]);
    }
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const double part = high > low ? weights[goal] * (trials[i][goal] - low) / (high - low) : 0;
      largest[i] = std::max(largest[i], part);
      sum[i] += part;
    }
  }
  for (std::size_t i = 0; i < trials.size(); ++i) largest[i] += 0.05 * sum[i];
  return largest;
}

}  // namespace bochner

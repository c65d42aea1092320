#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/verdict.hpp>
#include <numeric>

namespace bochner {
namespace {

std::string score_text(const Verdict& verdict, double value) {
  return verdict.percent ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.4g}", value);
}

/// Compares the score with the best naive answer.
std::string comparison(const Verdict& verdict) {
  const Score& best = verdict.best_naive();
  const std::string than = verdict.naive.size() > 1 ? " than " + best.name : "";
  if (!verdict.beats_naive()) return "no better" + than;
  if (verdict.percent) return "better" + than;
  if (verdict.nats) return fmt::format("better by {:.4f}{}", best.value - verdict.score, than);
  return fmt::format("{:.0f} % less{}", 100 * (1 - verdict.score / best.value), than);
}

}  // namespace

const Score& Verdict::best_naive() const {
  const auto order = [this](double a, double b) { return percent ? a > b : a < b; };
  return *std::ranges::min_element(naive, order, &Score::value);
}

bool Verdict::beats_naive() const {
  constexpr double least_gain = 0.01, least_nats = 0.001;
  if (nats) return score < best_naive().value - least_nats;
  return percent ? score > best_naive().value : score < (1 - least_gain) * best_naive().value;
}

std::string Verdict::words() const {
  const auto text = [this](const Score& other) {
    return other.name + " " + score_text(*this, other.value);
  };
  return fmt::format("{} {} on {}; {}: {}{}", measure, score_text(*this, score), data,
                     joined(naive, ", ", text), comparison(*this),
                     remark.empty() ? "" : "; " + remark);
}

Json Verdict::json() const {
  Json others;
  for (const Score& other : naive) others.set(other.name, other.value);
  return {{"measure", measure},           {"data", data},    {"score", score}, {"naive", others},
          {"beats_naive", beats_naive()}, {"words", words()}};
}

Score most_frequent_class(const std::vector<double>& counts) {
  return {"most frequent class",
          std::ranges::max(counts) / std::accumulate(counts.begin(), counts.end(), 0.0)};
}

void add_verdict(Page& page, const Verdict& verdict) {
  if (!verdict.exists()) return;
  page.section("How good", verdict.words() + ".");
  std::vector<Figure> figures = {
      {score_text(verdict, verdict.score), verdict.measure + ", this model"}};
  for (const Score& other : verdict.naive)
    figures.push_back({score_text(verdict, other.value), verdict.measure + ", " + other.name});
  page.figures(figures);
}

}  // namespace bochner

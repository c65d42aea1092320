#include <algorithm>
#include <bochner/base/numeric/conformal.hpp>
#include <bochner/base/shape.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

/// Returns the rank, from 1, of the conformal quantile of n scores.
double rank_of(std::size_t n, double level) {
  constexpr double rounding = 1e-9;
  return std::max(1.0, std::ceil(double(n + 1) * level - rounding));
}

}  // namespace

double conformal_quantile(std::vector<double> scores, double level) {
  const double rank = rank_of(scores.size(), level);
  if (rank > double(scores.size())) return std::numeric_limits<double>::infinity();
  const auto at = scores.begin() + std::ptrdiff_t(rank) - 1;
  std::nth_element(scores.begin(), at, scores.end());
  return *at;
}

ConformalRanks::ConformalRanks(std::vector<double> scores) : sorted_(std::move(scores)) {
  constexpr double tail = 0.1;
  require(!sorted_.empty(), "conformal ranks", "no held-out scores");
  std::ranges::sort(sorted_);
  const auto count = std::max<std::size_t>(1, std::size_t(tail * double(sorted_.size())));
  threshold_ = sorted_[sorted_.size() - count];
  for (std::size_t i = sorted_.size() - count; i < sorted_.size(); ++i)
    excess_ += (sorted_[i] - threshold_) / double(count);
}

double ConformalRanks::p_value(double score) const {
  const auto larger = sorted_.end() - std::ranges::lower_bound(sorted_, score);
  return double(1 + larger) / double(sorted_.size() + 1);
}

double ConformalRanks::surprise(double score) const {
  if (score <= threshold_) return -std::log(p_value(score));
  const double at_threshold = -std::log(p_value(threshold_));
  const double unit = excess_ > 0 ? excess_ : std::max(std::abs(threshold_), 1e-300);
  return at_threshold + (score - threshold_) / unit;
}

AdaptiveConformal::AdaptiveConformal(std::vector<double> scores, double level, double rate)
    : sorted_(scores),
      in_order_(scores.begin(), scores.end()),
      miss_(1 - level),
      wanted_(1 - level),
      rate_(rate) {
  require(!scores.empty(), "adaptive intervals", "no held-out scores");
  std::ranges::sort(sorted_);
}

double AdaptiveConformal::bound() const {
  if (miss_ >= 1) return 0;
  const double rank = rank_of(sorted_.size(), 1 - miss_);
  return sorted_[std::min(sorted_.size(), std::size_t(rank)) - 1];
}

void AdaptiveConformal::observe(double score, double bound) {
  miss_ += rate_ * (wanted_ - (score > bound ? 1 : 0));
  sorted_.erase(std::ranges::lower_bound(sorted_, in_order_.front()));
  sorted_.insert(std::ranges::lower_bound(sorted_, score), score);
  in_order_.pop_front();
  in_order_.push_back(score);
}

}  // namespace bochner

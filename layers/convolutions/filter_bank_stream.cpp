#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/layers/convolutions/filter_bank_stream.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Adds the responses of a group to one row.
void add_row(const real (&y)[filters_of_group], const real* quantiles, FilterTotals* totals) {
  const real top = *std::max_element(y, y + filters_of_group),
             low = *std::min_element(y, y + filters_of_group);
  for (std::size_t f = 0; f < filters_of_group; ++f) {
    totals[f].wins += y[f] == top ? double(y[f]) : 0;
    totals[f].least += y[f] == low ? 1 : 0;
    totals[f].above += y[f] > quantiles[f] ? 1 : 0;
    totals[f].sum += double(y[f]);
    totals[f].largest = std::max(totals[f].largest, double(y[f]));
  }
}

}  // namespace

FilterBankStream::FilterBankStream(FilterBank& bank)
    : bank_(bank),
      scales_(bank.scales().size()),
      last_(bank.spec().channels),
      signal_(bank.spec().groups) {
  const FilterBankSpec& spec = bank.spec();
  require(spec.standardize == "channel", "filter bank stream",
          "standardize = \"series\" needs all rows of a series; use \"channel\"");
  const std::size_t L = spec.taps;
  const Tensor filters = bank.filters();
  filters_.resize(filters.size());
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const std::size_t group = i / (L * filters_of_group), f = i / L % filters_of_group;
    filters_[(group * L + i % L) * filters_of_group + f] = filters.data()[i];
  }
  FilterTotals none;
  none.largest = -std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < scales_.size(); ++s) {
    const std::size_t d = bank.scales()[s].dilation;
    scales_[s].window = (L - 1) * d + 1;
    scales_[s].ahead = (L - 1 - L / 2) * d;
    scales_[s].ring.resize(scales_[s].window * spec.groups);
    scales_[s].totals.assign(spec.filters(), none);
  }
}

void FilterBankStream::push(std::span<const float> row) {
  const std::size_t C = last_.size();
  require(row.size() == C, "filter bank stream", "a row has ", C, " channels, not ", row.size());
  std::vector<real> change(C);
  for (std::size_t c = 0; c < C; ++c) {
    const real x = std::isnan(row[c]) ? last_[c] : bank_.in_unit(row[c], c);
    change[c] = x - last_[c];
    last_[c] = x;
  }
  if (rows_++ == 0) first_.assign(row.begin(), row.end());
  for (std::size_t s = 0; s < scales_.size(); ++s)
    if (!bank_.scales()[s].differences)
      push_signal(s, last_);
    else if (rows_ > 1)
      push_signal(s, change);
}

void FilterBankStream::push_signal(std::size_t s, std::span<const real> channels) {
  Scale& scale = scales_[s];
  const std::size_t groups = signal_.size();
  real* at = scale.ring.data() + scale.seen % scale.window * groups;
  for (std::size_t g = 0; g < groups; ++g) {
    at[g] = 0;
    for (std::size_t c = 0; c < channels.size(); ++c)
      at[g] += bank_.channel_weights()(s, g, c) * channels[c];
  }
  const std::size_t last = scale.seen++;
  if (last >= scale.ahead) add_responses(s, last, scale.seen, scale.totals);
}

void FilterBankStream::add_responses(std::size_t s, std::size_t last, std::size_t seen,
                                     std::vector<FilterTotals>& totals) const {
  constexpr std::size_t G = filters_of_group;
  const Scale& scale = scales_[s];
  const std::size_t L = bank_.spec().taps, d = bank_.scales()[s].dilation, groups = signal_.size();
  const real* quantiles = bank_.quantiles().data() + s * groups * G;
  for (std::size_t g = 0; g < groups; ++g) {
    const real* w = filters_.data() + (s * groups + g) * L * G;
    real y[G] = {};
    for (std::size_t j = 0; j < L; ++j) {
      const std::size_t back = (L - 1 - j) * d;
      if (back > last || last - back >= seen) continue;  // zeros around the series
      const real x = scale.ring[(last - back) % scale.window * groups + g];
      for (std::size_t f = 0; f < G; ++f) y[f] += w[j * G + f] * x;
    }
    add_row(y, quantiles + g * G, totals.data() + g * G);
  }
}

Tensor FilterBankStream::features() const {
  require(rows_ > 0, "filter bank stream", "has no rows yet");
  if (rows_ == 1) return bank_.features({SeriesValues(first_)});
  constexpr std::size_t G = filters_of_group;
  Tensor features = uninitialized({1, bank_.size()});
  for (std::size_t s = 0; s < scales_.size(); ++s) {
    const Scale& scale = scales_[s];
    std::vector<FilterTotals> totals = scale.totals;
    const std::size_t first = std::max(scale.seen, scale.ahead);
    for (std::size_t last = first; last < scale.seen + scale.ahead; ++last)
      add_responses(s, last, scale.seen, totals);
    for (std::size_t g = 0; g < signal_.size(); ++g) {
      FilterTotals group[G];
      std::copy_n(totals.data() + g * G, G, group);
      bank_.write_features(s, g, group, double(scale.seen), features.data());
    }
  }
  return features;
}

}  // namespace bochner::inline BOCHNER_PRECISION

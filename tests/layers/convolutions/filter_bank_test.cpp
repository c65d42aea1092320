#include <gtest/gtest.h>

#include <bochner/layers/convolutions/filter_bank.hpp>
#include <bochner/layers/convolutions/filter_bank_stream.hpp>
#include <cmath>
#include <set>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace filter_bank_test {

using namespace layer_check;

constexpr std::size_t G = FilterBankSpec::group;

FilterBankSpec small_bank() {
  FilterBankSpec spec;
  spec.groups = 2;
  spec.taps = 5;
  spec.length = 70;
  spec.pools = {"winners", "positive", "maximum", "mean"};
  return spec;
}

std::vector<float> wave(std::size_t rows, double frequency) {
  std::vector<float> values;
  for (std::size_t t = 0; t < rows; ++t)
    values.push_back(float(std::sin(frequency * double(t)) + 0.3 * std::cos(double(t * t))));
  return values;
}

struct Fitted {
  std::vector<std::vector<float>> series = {wave(70, 0.2), wave(70, 0.5), wave(33, 0.9)};
  std::vector<SeriesValues> values{series.begin(), series.end()};
  FilterBank bank;
  Tensor units, quantiles;

  explicit Fitted(const FilterBankSpec& spec) : bank(spec) {
    initialize(bank, 1);
    bank.fit(values);
    for (const NamedTensor& each : buffers_of(bank)) {
      if (each.name == "units") units = *each.tensor;
      if (each.name == "quantiles") quantiles = *each.tensor;
    }
  }
};

/// Responses of a group of one channel, each from its definition.
std::vector<std::vector<double>> responses_of(const std::vector<double>& x, const real* filters,
                                              std::size_t taps, std::size_t dilation) {
  std::vector<std::vector<double>> all(G);
  for (std::size_t f = 0; f < G; ++f)
    for (std::size_t t = 0; t < x.size(); ++t) {
      double sum = 0;
      for (std::size_t j = 0; j < taps; ++j) {
        const std::ptrdiff_t at =
            std::ptrdiff_t(t) +
            (std::ptrdiff_t(j) - std::ptrdiff_t(taps / 2)) * std::ptrdiff_t(dilation);
        if (at >= 0 && at < std::ptrdiff_t(x.size()))
          sum += double(filters[f * taps + j]) * x[std::size_t(at)];
      }
      all[f].push_back(sum);
    }
  return all;
}

TEST(FilterBank, HasFeaturesByTheirDefinition) {
  const FilterBankSpec spec = small_bank();
  Fitted fitted(spec);
  const Tensor filters = fitted.bank.filters(), features = fitted.bank.features(fitted.values);
  const std::size_t F = spec.filters();
  for (std::size_t i = 0; i < fitted.series.size(); ++i) {
    std::vector<double> x;
    for (const float value : fitted.series[i])
      x.push_back((double(value) - double(fitted.units(0, 0))) / double(fitted.units(0, 1)));
    std::vector<double> changes;
    for (std::size_t t = 1; t < x.size(); ++t) changes.push_back(x[t] - x[t - 1]);
    for (std::size_t s = 0; s < fitted.bank.scales().size(); ++s) {
      const auto [dilation, differences] = fitted.bank.scales()[s];
      for (std::size_t g = 0; g < spec.groups; ++g) {
        const auto y =
            responses_of(differences ? changes : x, filters.data() + (s * F + g * G) * spec.taps,
                         spec.taps, dilation);
        const std::size_t rows = y[0].size();
        for (std::size_t f = 0; f < G; ++f) {
          double wins = 0, least = 0, above = 0, largest = -INFINITY, sum = 0;
          for (std::size_t t = 0; t < rows; ++t) {
            bool top = true, low = true;
            for (std::size_t other = 0; other < G; ++other) {
              top = top && y[other][t] <= y[f][t];
              low = low && y[other][t] >= y[f][t];
            }
            wins += top ? y[f][t] : 0;
            least += low;
            above += y[f][t] > double(fitted.quantiles(s, g * G + f));
            largest = std::max(largest, y[f][t]);
            sum += y[f][t];
          }
          const double n = double(rows),
                       wanted[] = {std::sqrt(std::max(0.0, wins) / n), std::sqrt(least / n),
                                   above / n, largest, sum / n};
          for (std::size_t p = 0; p < 5; ++p)
            EXPECT_NEAR(double(features(i, (s * 5 + p) * F + g * G + f)), wanted[p],
                        is_double ? 1e-9
                        : p == 2  ? 1.5 / n
                                  : 1e-4)
                << "series " << i << ", scale " << s << ", filter " << f << ", pool " << p;
        }
      }
    }
  }
}

TEST(FilterBank, HasCentredFilters) {
  FilterBank bank(small_bank());
  initialize(bank, 1);
  const Tensor filters = bank.filters();
  for (std::size_t i = 0; i < filters.size(); i += 5) {
    double sum = 0, absolute = 0;
    for (std::size_t j = 0; j < 5; ++j) {
      sum += double(filters.data()[i + j]);
      absolute += std::abs(double(filters.data()[i + j]));
    }
    EXPECT_NEAR(sum, 0, 1e-6);
    EXPECT_NEAR(absolute, 1, 1e-6);
  }
}

TEST(FilterBank, SeesMissingValuesOnLines) {
  Fitted fitted(small_bank());
  std::vector<float> gaps = fitted.series[0], lines = gaps;
  for (const std::size_t t : {0, 1, 20, 21, 22, 69}) gaps[t] = NAN;
  lines[0] = lines[1] = lines[2];
  lines[69] = lines[68];
  for (std::size_t t = 20; t < 23; ++t)
    lines[t] = lines[19] + (lines[23] - lines[19]) * float(t - 19) / 4;
  const Tensor features = fitted.bank.features({gaps, lines});
  for (std::size_t j = 0; j < fitted.bank.size(); ++j)
    EXPECT_NEAR(double(features(0, j)), double(features(1, j)), 0.03) << j;
  const std::vector<float> nothing(70, NAN), zeros(70, float(fitted.units(0, 0)));
  const Tensor empty = fitted.bank.features({nothing, zeros});
  for (std::size_t j = 0; j < fitted.bank.size(); ++j)
    EXPECT_TRUE(std::isfinite(double(empty(0, j)))) << j;
}

TEST(FilterBank, StandardizesEachSeriesWhereAsked) {
  FilterBankSpec spec = small_bank();
  spec.standardize = "series";
  spec.pools = {"winners"};
  Fitted fitted(spec);
  std::vector<float> moved = fitted.series[0];
  for (float& x : moved) x = 4 * x + 100;
  const Tensor features = fitted.bank.features({fitted.series[0], moved});
  for (std::size_t j = 0; j < fitted.bank.size(); ++j)
    EXPECT_NEAR(double(features(0, j)), double(features(1, j)), 2e-2) << j;
}

/// At a low temperature: where two responses are close, soft counts split.
TEST(FilterBank, HasSoftFeaturesNearItsFeatures) {
  FilterBankSpec spec = small_bank();
  spec.temperature = 1e-3;
  Fitted fitted(spec);
  Tape tape;
  const Tensor hard = fitted.bank.features(fitted.values),
               soft = fitted.bank.soft_features(tape, fitted.values).value();
  double sum = 0;
  for (std::size_t i = 0; i < hard.size(); ++i) {
    EXPECT_NEAR(double(soft.data()[i]), double(hard.data()[i]), 0.15) << i;
    sum += std::abs(double(soft.data()[i] - hard.data()[i]));
  }
  EXPECT_LT(sum / double(hard.size()), 2e-3);
}

TEST(FilterBank, ShowsAGroupAtMostEightChannels) {
  FilterBankSpec spec = small_bank();
  spec.channels = 20;
  spec.groups = 40;
  const FilterBank bank(spec);
  std::set<std::size_t> counts;
  const Tensor& weights = bank.channel_weights();
  for (const real* w = weights.data(); w < weights.data() + weights.size(); w += 20)
    counts.insert(20 - std::size_t(std::count(w, w + 20, real(0))));
  EXPECT_EQ(counts, (std::set<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(FilterBank, MayHaveADensityForEachDilation) {
  FilterBankSpec spec = small_bank();
  FilterBank shared(spec);
  spec.each_scale = true;
  FilterBank own(spec);
  const std::size_t weights = own.channel_weights().size();
  EXPECT_EQ(count_parameters(own) - weights,
            own.scales().size() * (count_parameters(shared) - weights));
  EXPECT_EQ(own.size(), shared.size());
}

TEST(FilterBankStream, HasTheFeaturesOfTheRowsSoFar) {
  FilterBankSpec spec = small_bank();
  spec.channels = 3;
  std::vector<float> series;
  for (const double frequency : {0.2, 0.5, 0.9})
    for (const float x : wave(70, frequency)) series.push_back(x);
  FilterBank bank(spec);
  initialize(bank, 1);
  bank.fit({series});
  FilterBankStream stream(bank);
  EXPECT_THROW(stream.features(), std::invalid_argument);
  for (std::size_t t = 0; t < 70; ++t) {
    stream.push(std::vector<float>{series[t], series[70 + t], series[140 + t]});
    if (t > 2 && t != 30 && t != 69) continue;
    std::vector<float> seen;
    for (std::size_t c = 0; c < 3; ++c)
      seen.insert(seen.end(), series.begin() + std::ptrdiff_t(c * 70),
                  series.begin() + std::ptrdiff_t(c * 70 + t + 1));
    const Tensor streamed = stream.features(), wanted = bank.features({seen});
    for (std::size_t j = 0; j < bank.size(); ++j)
      EXPECT_NEAR(double(streamed(0, j)), double(wanted(0, j)), is_double ? 1e-9 : 1e-4)
          << "rows " << t + 1 << ", feature " << j;
  }
  spec.standardize = "series";
  FilterBank needs_all(spec);
  EXPECT_THROW(FilterBankStream{needs_all}, std::invalid_argument);
}

}  // namespace filter_bank_test
}  // namespace bochner::inline BOCHNER_PRECISION

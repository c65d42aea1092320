#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/data/events/event_sequences.hpp>
#include <cmath>

#include "data/mean_rate.hpp"

namespace bochner {
namespace hawkes_test {

HawkesProcess two_types(std::size_t shape) {
  return {{0.2, 0.05}, {0.3, 0.4, 0.5, 0.1}, {2.0, 0.5}, shape};
}

double erlang_density(double rate, std::size_t n, double s) {
  return rate * std::exp(double(n - 1) * std::log(rate * s) - std::lgamma(double(n)) - rate * s);
}

TEST(Hawkes, MeanRateSolvesItsEquation) {
  const HawkesProcess process = two_types(1);
  const std::vector<double> rate = mean_rate(process);
  EXPECT_NEAR(rate[0], 0.2 + 0.3 * rate[0] + 0.4 * rate[1], 1e-14);
  EXPECT_NEAR(rate[1], 0.05 + 0.5 * rate[0] + 0.1 * rate[1], 1e-14);
}

/// The recursion against the sum over all events, and the compensator against its quadrature.
TEST(Hawkes, IntensityIsTheSumOverThePast) {
  for (const std::size_t shape : {1, 2, 5}) {
    const HawkesProcess process = two_types(shape);
    const std::vector<Event> events =
        simulate(process, 12, draws_of(ExampleSet{}, Split::validation, shape));
    const double end = events.back().time + 3;
    constexpr int steps = 20000;
    HawkesState state(process);
    std::size_t next = 0;
    double now = 0, integral = 0;
    for (int i = 0; i < steps; ++i) {
      const double at = end * (i + 0.5) / steps;
      for (; next < events.size() && events[next].time < at; ++next) {
        state.advance(events[next].time - now);
        now = events[next].time;
        state.add(events[next].type);
      }
      state.advance(at - now);
      now = at;
      double direct[2] = {process.base[0], process.base[1]};
      for (std::size_t j = 0; j < next; ++j) {
        const std::size_t l = events[j].type;
        for (std::size_t k = 0; k < 2; ++k)
          direct[k] += process.excitation[k * 2 + l] *
                       erlang_density(process.rate[l], shape, at - events[j].time);
      }
      for (std::size_t k = 0; k < 2; ++k) ASSERT_NEAR(state.intensity(k), direct[k], 1e-9);
      ASSERT_GE(state.bound(), state.intensity() - 1e-12);
      integral += state.intensity() * end / steps;
    }
    EXPECT_NEAR(state.compensator() / integral, 1, 2e-3) << shape;
  }
}

/// Theorem of random time change: between events the compensator grows by Exp(1) numbers.
TEST(Hawkes, RescaledTimesAreExponential) {
  for (const std::size_t shape : {1, 4}) {
    const HawkesProcess process = two_types(shape);
    HawkesState state(process);
    std::vector<double> probabilities;
    double now = 0, before = 0;
    for (const Event& event :
         simulate(process, 20000, draws_of(ExampleSet{}, Split::validation, 7 + shape))) {
      state.advance(event.time - now);
      now = event.time;
      probabilities.push_back(-std::expm1(before - state.compensator()));
      before = state.compensator();
      state.add(event.type);
    }
    std::sort(probabilities.begin(), probabilities.end());
    double distance = 0;
    const double n = double(probabilities.size());
    for (std::size_t i = 0; i < probabilities.size(); ++i)
      distance = std::max(
          {distance, probabilities[i] - double(i) / n, double(i + 1) / n - probabilities[i]});
    EXPECT_LT(distance * std::sqrt(n), 1.95) << shape;  // one sample in a thousand is farther
  }
}

TEST(Hawkes, EventsComeAtTheirMeanRate) {
  for (const std::size_t shape : {1, 4}) {
    const HawkesProcess process = two_types(shape);
    const std::vector<Event> events =
        simulate(process, 100000, draws_of(ExampleSet{}, Split::validation, shape));
    double counts[2] = {};
    for (const Event& event : events) counts[event.type] += 1;
    const std::vector<double> rate = mean_rate(process);
    // Counts have a larger variance than those of a Poisson process: by (1 - branching)^-2, at most
    // 50 here.
    const double time = events.back().time;
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_NEAR(counts[k] / time, rate[k], 5 * std::sqrt(50 * rate[k] / time)) << shape;
  }
}

TEST(Hawkes, IsAFunctionOfTheDraws) {
  const HawkesProcess process = two_types(2);
  const auto first = simulate(process, 50, draws_of(ExampleSet{}, Split::validation, 1));
  const auto again = simulate(process, 50, draws_of(ExampleSet{}, Split::validation, 1));
  const auto other = simulate(process, 50, draws_of(ExampleSet{}, Split::validation, 2));
  EXPECT_EQ(first[49].time, again[49].time);
  EXPECT_NE(first[49].time, other[49].time);
  for (std::size_t i = 1; i < first.size(); ++i) EXPECT_GT(first[i].time, first[i - 1].time);
}

TEST(Hawkes, RefusesShapesThatDoNotFit) {
  const HawkesProcess uneven{{1, 1}, {0, 0, 0}, {1, 1}, 1}, shapeless{{1}, {0}, {1}, 0};
  EXPECT_THROW(HawkesState{uneven}, std::invalid_argument);
  EXPECT_THROW(HawkesState{shapeless}, std::invalid_argument);
}

/// lag (l + 1) of type l, whatever the shape of the kernel.
TEST(Hawkes, KernelsHaveTheMeanDelayOfTheirKey) {
  for (const char* kernel : {"exponential", "delayed"}) {
    const HawkesProcess process = hawkes_process({.kernel = kernel, .types = 3, .lag = 0.5});
    for (std::size_t l = 0; l < 3; ++l)
      EXPECT_NEAR(double(process.shape) / process.rate[l], 0.5 * double(l + 1), 1e-12) << kernel;
  }
}

}  // namespace hawkes_test
}  // namespace bochner

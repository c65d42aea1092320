#include <algorithm>
#include <bochner/layers/models/poisson_process.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr double seconds_of_week = double(hours_of_week) * seconds_of_hour;
using Week = std::vector<double>;  // (168)

/// Adds the seconds of a gap to the hours of the week.
void add_exposure(double from, double to, Week& exposure) {
  const double weeks = std::floor((to - from) / seconds_of_week);
  for (double& seconds : exposure) seconds += weeks * seconds_of_hour;
  for (from += weeks * seconds_of_week; from < to;) {
    const double end = (std::floor(from / seconds_of_hour) + 1) * seconds_of_hour;
    exposure[hour_of_week(from)] += std::min(end, to) - from;
    from = end;
  }
}

/// Returns counts over their expectation, shrunk towards `prior`: the posterior mean of a gamma
/// distribution with the weight of 20 events.
std::vector<double> shrunk(const std::vector<double>& counts, const std::vector<double>& expected,
                           const std::vector<double>& prior) {
  constexpr double weight = 20;
  std::vector<double> rates(counts.size());
  for (std::size_t i = 0; i < rates.size(); ++i)
    rates[i] = (counts[i] + weight * prior[i]) / (expected[i] + weight);
  return rates;
}

/// Returns sums over the hours of the week with equal hour / divisor % size.
std::vector<double> folded(const Week& week, std::size_t divisor, std::size_t size) {
  std::vector<double> sums(size);
  for (std::size_t h = 0; h < hours_of_week; ++h) sums[h / divisor % size] += week[h];
  return sums;
}

/// Returns rates of mean 1 from gaps that `takes` chooses by number.
template <class Takes>
Week weekly_rates(const EventGaps& gaps, const Takes& takes) {
  Week counts(hours_of_week), expected(hours_of_week);
  for (std::size_t i = 0; i < gaps.to.size(); ++i) {
    if (!takes(i)) continue;
    add_exposure(gaps.from[i], gaps.to[i], expected);
    ++counts[hour_of_week(gaps.to[i])];
  }
  const double total = std::accumulate(expected.begin(), expected.end(), 0.0),
               events = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (total <= 0) return Week(hours_of_week, 1);
  for (double& seconds : expected) seconds *= events / total;
  const auto profile = [&](std::size_t divisor, std::size_t size) {
    return shrunk(folded(counts, divisor, size), folded(expected, divisor, size),
                  std::vector<double>(size, 1));
  };
  const std::vector<double> hours = profile(1, hours_of_day),
                            days = profile(hours_of_day, days_of_week);
  Week prior(hours_of_week);
  for (std::size_t h = 0; h < hours_of_week; ++h)
    prior[h] = hours[h % hours_of_day] * days[h / hours_of_day];
  Week rates = shrunk(counts, expected, prior);
  const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / double(hours_of_week);
  for (double& rate : rates) rate /= mean;
  return rates;
}

/// Returns the sum of -ln density of chosen gaps with the rate that fits others of them best.
template <class Takes>
double held_out_nats(const EventGaps& gaps, const WeekClock& clock, const Takes& takes) {
  double events = 0, spans = 0, logarithms = 0, taken = 0, span = 0;
  for (std::size_t i = 0; i < gaps.to.size(); ++i) {
    const double passed = clock.at(gaps.to[i]) - clock.at(gaps.from[i]);
    if (!takes(i)) {
      ++events, spans += passed;
    } else {
      ++taken, span += passed, logarithms += std::log(clock.rate(gaps.to[i]));
    }
  }
  const double rate = events / spans;
  return rate * span - logarithms - taken * std::log(rate);
}

}  // namespace

std::size_t hour_of_week(double time) {
  const double hours = std::floor(time / seconds_of_hour),
               weeks = std::floor(hours / double(hours_of_week));
  return std::size_t(hours - weeks * double(hours_of_week));
}

WeekClock::WeekClock(const std::vector<double>& rates) : rates_(rates), readings_(1) {
  require(rates.size() == hours_of_week, "week_clock", "needs 168 rates, not ", rates.size());
  for (const double rate : rates) readings_.push_back(readings_.back() + rate * seconds_of_hour);
}

double WeekClock::at(double time) const {
  const double weeks = std::floor(time / seconds_of_week), rest = time - weeks * seconds_of_week;
  const std::size_t hour = std::min(std::size_t(rest / seconds_of_hour), hours_of_week - 1);
  return weeks * readings_.back() + readings_[hour] +
         rates_[hour] * (rest - double(hour) * seconds_of_hour);
}

double WeekClock::time_at(double reading) const {
  const double weeks = std::floor(reading / readings_.back()),
               rest = reading - weeks * readings_.back();
  const auto next = std::upper_bound(readings_.begin() + 1, readings_.end() - 1, rest);
  const auto hour = std::size_t(next - readings_.begin()) - 1;
  return weeks * seconds_of_week + double(hour) * seconds_of_hour +
         (rest - readings_[hour]) / rates_[hour];
}

void EventGaps::add(const Times& times, const Times& next_times, const Indices& next_types) {
  for (std::size_t i = 0; i < next_types.values.size(); ++i) {
    if (next_types.values[i] < 0) continue;
    from.push_back(times.data()[i]);
    to.push_back(next_times.data()[i]);
    types.push_back(next_types.values[i]);
  }
}

PoissonProcess::PoissonProcess(std::size_t types, bool weekly)
    : weekly_(weekly),
      week_(filled({weekly ? hours_of_week : 0}, 1)),
      rate_(filled({1}, 1)),
      types_(filled({types}, real(1 / double(types)))) {}

void PoissonProcess::fit(const EventGaps& gaps) {
  const double n = double(gaps.to.size());
  require(n > 0, "poisson_process", "needs an event");
  std::vector<double> counts(types_.size(), 1);  // no type is impossible
  for (const std::int32_t type : gaps.types) ++counts[std::size_t(type)];
  for (std::size_t k = 0; k < counts.size(); ++k)
    types_.data()[k] = real(counts[k] / (n + double(counts.size())));
  if (weekly_) {
    const auto is_held_out = [](std::size_t i) { return i % 5 == 4; };
    const Week others = weekly_rates(gaps, [&](std::size_t i) { return !is_held_out(i); });
    const WeekClock constant{Week(hours_of_week, 1)};
    const bool is_better = held_out_nats(gaps, WeekClock(others), is_held_out) <
                           held_out_nats(gaps, constant, is_held_out);
    const Week rates = weekly_rates(gaps, [&](std::size_t) { return is_better; });
    std::ranges::transform(rates, week_.data(), [](double rate) { return real(rate); });
  }
  double spans = 0;
  const WeekClock clock = this->clock();
  for (std::size_t i = 0; i < gaps.to.size(); ++i)
    spans += weekly_ ? clock.at(gaps.to[i]) - clock.at(gaps.from[i]) : gaps.to[i] - gaps.from[i];
  if (spans > 0) rate_.data()[0] = real(n / spans);
}

bool PoissonProcess::has_season() const {
  return std::any_of(week_.data(), week_.data() + week_.size(),
                     [&](real rate) { return rate != week_.data()[0]; });
}

WeekClock PoissonProcess::clock() const {
  return WeekClock(weekly_ ? Week(week_.data(), week_.data() + week_.size())
                           : Week(hours_of_week, 1));
}

Times PoissonProcess::clock_times(const Times& times) const {
  if (!weekly_) return times;
  const WeekClock clock = this->clock();
  Times readings = times;
  for (double& time : readings) time = clock.at(time);
  return readings;
}

PoissonProcess::Nats PoissonProcess::nats(const EventGaps& gaps) const {
  const WeekClock clock = this->clock();
  Nats nats;
  for (std::size_t i = 0; i < gaps.to.size(); ++i) {
    const double passed =
        weekly_ ? clock.at(gaps.to[i]) - clock.at(gaps.from[i]) : gaps.to[i] - gaps.from[i];
    const double season = weekly_ ? clock.rate(gaps.to[i]) : 1;
    nats.time += rate() * passed - std::log(rate() * season);
    nats.type -= std::log(frequency(std::size_t(gaps.types[i])));
  }
  return nats;
}

void PoissonProcess::visit(Visitor& visitor) {
  if (weekly_) visitor("week", week_);
  visitor("rate", rate_);
  visitor("types", types_);
}

}  // namespace bochner::inline BOCHNER_PRECISION

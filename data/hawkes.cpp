#include <bochner/autodiff/shape.hpp>
#include <bochner/data/hawkes.hpp>
#include <cmath>

namespace bochner {
namespace {

void check(const HawkesProcess& process) {
  const std::size_t K = process.types();
  require(K >= 1 && process.shape >= 1 && process.rate.size() == K &&
              process.excitation.size() == K * K,
          "hawkes", "wants base (K), excitation (K, K), rate (K) and a shape of at least 1");
}

}  // namespace

std::vector<double> HawkesProcess::mean_rate() const {
  check(*this);
  const std::size_t K = types();
  std::vector<double> rates = base, next(K);
  // The series of the generations; it converges where the process is stationary.
  for (int generation = 0; generation < 100000; ++generation) {
    double change = 0;
    for (std::size_t k = 0; k < K; ++k) {
      next[k] = base[k];
      for (std::size_t l = 0; l < K; ++l) next[k] += excitation[k * K + l] * rates[l];
      change = std::max(change, std::abs(next[k] - rates[k]));
    }
    rates.swap(next);
    if (change == 0) break;
  }
  return rates;
}

HawkesState::HawkesState(const HawkesProcess& process)
    : process_(process),
      counts_(process.types()),
      sums_(process.types() * process.shape),
      peaks_(process.shape, 1) {
  check(process);
  for (std::size_t n = 1; n < peaks_.size(); ++n)
    peaks_[n] = std::exp(double(n) * std::log(double(n)) - double(n) - std::lgamma(double(n) + 1));
}

void HawkesState::advance(double span) {
  time_ += span;
  const std::size_t n = process_.shape;
  for (std::size_t l = 0; l < process_.types(); ++l) {
    double* sums = sums_.data() + l * n;
    const double x = process_.rate[l] * span, decay = std::exp(-x);
    for (std::size_t j = n; j-- > 0;) {
      double sum = 0, weight = decay;  // (x^i / i!) e^-x for i = j - earlier
      for (std::size_t i = 0; i <= j; ++i) {
        sum += weight * sums[j - i];
        weight *= x / double(i + 1);
      }
      sums[j] = sum;
    }
  }
}

void HawkesState::add(std::size_t type) {
  counts_[type] += 1;
  sums_[type * process_.shape] += process_.rate[type];
}

double HawkesState::intensity(std::size_t type) const {
  const std::size_t K = process_.types(), n = process_.shape;
  double sum = process_.base[type];
  for (std::size_t l = 0; l < K; ++l)
    sum += process_.excitation[type * K + l] * sums_[l * n + n - 1];
  return sum;
}

double HawkesState::intensity() const {
  double sum = 0;
  for (std::size_t k = 0; k < process_.types(); ++k) sum += intensity(k);
  return sum;
}

double HawkesState::bound() const {
  const std::size_t K = process_.types(), n = process_.shape;
  double sum = 0;
  for (std::size_t l = 0; l < K; ++l) {
    double largest = 0;
    for (std::size_t j = 0; j < n; ++j) largest += peaks_[n - 1 - j] * sums_[l * n + j];
    for (std::size_t k = 0; k < K; ++k) sum += process_.excitation[k * K + l] * largest;
  }
  for (const double base : process_.base) sum += base;
  return sum;
}

double HawkesState::compensator() const {
  const std::size_t K = process_.types(), n = process_.shape;
  double sum = 0;
  for (std::size_t l = 0; l < K; ++l) {
    double born = counts_[l];  // less the part of the kernels that is still to come
    for (std::size_t j = 0; j < n; ++j) born -= sums_[l * n + j] / process_.rate[l];
    for (std::size_t k = 0; k < K; ++k) sum += process_.excitation[k * K + l] * born;
  }
  for (const double base : process_.base) sum += base * time_;
  return sum;
}

std::vector<Event> simulate(const HawkesProcess& process, std::size_t count, Draws draws) {
  HawkesState state(process);
  std::vector<Event> events;
  double time = 0;
  while (events.size() < count) {
    const double bound = state.bound();
    const double span = -std::log(draws.uniform()) / bound;
    time += span;
    state.advance(span);
    double rest = draws.uniform() * bound;
    for (std::size_t k = 0; k < process.types(); ++k) {
      rest -= state.intensity(k);
      if (rest > 0) continue;
      state.add(k);
      events.push_back({time, k});
      break;
    }
  }
  return events;
}

}  // namespace bochner

#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/data/events/event_sequences.hpp>
#include <cmath>

namespace bochner {

HawkesState::HawkesState(const HawkesProcess& process)
    : process_(process),
      counts_(process.types()),
      sums_(process.types() * process.shape),
      peaks_(process.shape, 1) {
  const std::size_t K = process.types();
  require(K >= 1 && process.shape >= 1 && process.rate.size() == K &&
              process.excitation.size() == K * K,
          "hawkes", "needs base (K), excitation (K, K), rate (K) and a shape of at least 1");
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
    double born = counts_[l];  // minus the part of the kernels that is still to come
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

namespace {

constexpr std::size_t delayed_shape = 8;

/// Adds one row: its part of the sums of both nats, and the intensities within its gaps.
void add_truth_of_row(const HawkesProcess& process, const EventBatch& batch, std::size_t row,
                      std::size_t points, double* intensity, double* nats) {
  const std::size_t T = batch.types.shape[1], K = process.types();
  const double* time = batch.times.data() + row * T;
  const double* next = batch.next_times.data() + row * T;
  HawkesState state(process);
  state.advance(time[0]);
  for (std::size_t t = 0; t < T; ++t) {
    state.add(std::size_t(batch.types.values[row * T + t]));
    const double part = (next[t] - time[t]) / double(2 * points), before = state.compensator();
    for (std::size_t i = 0; i < points; ++i) {
      state.advance(part);
      for (std::size_t k = 0; k < K; ++k) *intensity++ = state.intensity(k);
      state.advance(part);
    }
    const double total = state.intensity();
    const double own = state.intensity(std::size_t(batch.next_types.values[row * T + t]));
    nats[0] += state.compensator() - before - std::log(total);
    nats[1] += std::log(total / own);
  }
}

}  // namespace

EventBatch empty_event_batch(std::size_t B, std::size_t T) {
  const Indices types{{B, T}, std::vector<std::int32_t>(B * T)};
  const Times times(std::vector<std::size_t>{B, T});
  return {types, types, times, times};
}

std::vector<std::string> hawkes_kernels() { return {"exponential", "delayed"}; }

HawkesProcess hawkes_process(const HawkesSpec& spec) {
  const std::vector<std::string> kernels = hawkes_kernels();
  require(std::ranges::find(kernels, spec.kernel) != kernels.end(), "hawkes", "unknown kernel \"",
          spec.kernel, "\"; must be exponential or delayed");
  require(spec.branching >= 0 && spec.branching < 1, "hawkes", "branching = ", spec.branching,
          ": must be at least 0 and below 1");
  require(spec.types >= 1 && spec.length >= 1 && spec.lag > 0, "hawkes",
          "needs a type, an event and a lag above 0");
  const std::size_t K = spec.types;
  HawkesProcess process;
  process.shape = spec.kernel == "delayed" ? delayed_shape : 1;
  process.base.assign(K, (1 - spec.branching) / double(K));
  process.excitation.assign(K * K, 0);
  for (std::size_t l = 0; l < K; ++l) {
    process.excitation[(l + 1) % K * K + l] = spec.branching;
    process.rate.push_back(double(process.shape) / (spec.lag * double(l + 1)));
  }
  return process;
}

HawkesEvents::HawkesEvents(const HawkesSpec& spec, const ExampleSet& examples)
    : EventSource(examples), spec_(spec), process_(hawkes_process(spec)) {}

EventBatch HawkesEvents::batch(const Examples& examples) const {
  const std::size_t T = spec_.length;
  EventBatch batch = empty_event_batch(examples.size(), T);
  parallel_tasks(examples.size(), [&](std::size_t row) {
    const Draws draws = draws_of(examples_, examples.split, examples.index(row));
    const std::vector<Event> events = simulate(process_, T + 1, draws);
    for (std::size_t t = 0; t < T; ++t) {
      const std::size_t at = row * T + t;
      batch.types.values[at] = std::int32_t(events[t].type);
      batch.times.data()[at] = events[t].time;
      batch.next_types.values[at] = std::int32_t(events[t + 1].type);
      batch.next_times.data()[at] = events[t + 1].time;
    }
  });
  return batch;
}

std::uint64_t HawkesEvents::fingerprint() const {
  return examples_.fingerprint("hawkes " + spec_.kernel,
                               {spec_.types, spec_.length, std::bit_cast<std::uint64_t>(spec_.lag),
                                std::bit_cast<std::uint64_t>(spec_.branching)});
}

std::string HawkesEvents::describe() const {
  return in_words("hawkes, ", spec_.kernel, ", ", spec_.length, " events of ", spec_.types,
                  " types");
}

EventTruth event_truth(const HawkesProcess& process, const EventBatch& batch, std::size_t points) {
  const std::size_t B = batch.types.shape[0], T = batch.types.shape[1], K = process.types();
  Times intensity(std::vector<std::size_t>{B, T, points, K});
  const auto nats = parallel_sums(2, B, 1, [&](std::size_t row, std::size_t, double* sums) {
    add_truth_of_row(process, batch, row, points, intensity.data() + row * T * points * K, sums);
  });
  return {nats[0], nats[1], std::move(intensity)};
}

}  // namespace bochner

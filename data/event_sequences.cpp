#include <algorithm>
#include <bit>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/data/event_sequences.hpp>
#include <bochner/data/files/errors.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t delayed_shape = 8;

/// Truth of one row: its part of the sums, and the intensities within its gaps.
struct RowTruth {
  double time_nats = 0, type_nats = 0;
  RowTruth& operator+=(const RowTruth& part) {
    time_nats += part.time_nats;
    type_nats += part.type_nats;
    return *this;
  }
};

RowTruth truth_of_row(const HawkesProcess& process, const EventBatch& batch, std::size_t row,
                      std::size_t points, double* intensity) {
  const std::size_t T = batch.types.shape[1], K = process.types();
  const double* time = batch.times.data() + row * T;
  const double* next = batch.next_times.data() + row * T;
  HawkesState state(process);
  state.advance(time[0]);
  RowTruth truth;
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
    truth += {state.compensator() - before - std::log(total), std::log(total / own)};
  }
  return truth;
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
  require(std::ranges::find(kernels, spec.kernel) != kernels.end(), "hawkes",
          "no kernel is called \"", spec.kernel, "\"; there are: exponential, delayed");
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
  EventTruth truth;
  truth.intensity = Times(std::vector<std::size_t>{B, T, points, K});
  const RowTruth sum = parallel_sum<RowTruth>(B, 1, [&](std::size_t row, std::size_t) {
    return truth_of_row(process, batch, row, points, truth.intensity.data() + row * T * points * K);
  });
  truth.time_nats = sum.time_nats;
  truth.type_nats = sum.type_nats;
  return truth;
}

}  // namespace bochner

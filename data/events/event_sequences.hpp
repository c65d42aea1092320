#pragma once
/// Batches of marked event sequences, and multivariate Hawkes processes, in which events make
/// others more likely, as generators with known intensity.

#include <algorithm>
#include <bochner/base/shape.hpp>
#include <bochner/base/time_array.hpp>
#include <bochner/data/dataset.hpp>
#include <bochner/data/fields/bounding_box.hpp>

namespace bochner {

/// Hawkes process: lambda_k(t) = base_k + sum over events (t_i, l_i) before t of excitation_(k l_i)
/// g_l(t - t_i), with the Erlang density g_l(s) = rate_l (rate_l s)^(n-1) / (n-1)! exp(-rate_l s),
/// n = shape: exponential for n = 1, with a peak at lag (n - 1) / rate_l above. Hawkes, "Spectra of
/// some self-exciting and mutually exciting point processes", 1971.
struct HawkesProcess {
  std::vector<double> base;        ///< (K)
  std::vector<double> excitation;  ///< (K, K): mean number of children of type k of one event of l
  std::vector<double> rate;        ///< (K), 1 / time
  std::size_t shape = 1;

  std::size_t types() const { return base.size(); }
};

/// State of a process, which must outlive it: K x shape sums for any number of events.
class HawkesState {
 public:
  explicit HawkesState(const HawkesProcess& process);
  explicit HawkesState(HawkesProcess&&) = delete;
  void advance(double span);
  void add(std::size_t type);
  double intensity(std::size_t type) const;
  /// Sums over all types.
  double intensity() const;
  /// Returns an upper bound of intensity() until the next event.
  double bound() const;
  /// Returns the integral of intensity() since the start.
  double compensator() const;

 private:
  const HawkesProcess& process_;
  double time_ = 0;
  std::vector<double> counts_;  // (K) events
  std::vector<double> sums_;    // (K, shape): over the past, of Erlang densities of shape 1, 2, ..
  std::vector<double> peaks_;   // (shape): the largest Poisson probabilities of 0, 1, ..
};

struct Event {
  double time;
  std::size_t type;
};
/// Simulates the first `count` events after time 0 by thinning. Ogata, "On Lewis' simulation method
/// for point processes", 1981.
std::vector<Event> simulate(const HawkesProcess& process, std::size_t count, Draws draws);

/// T events of B sequences and the event after each.
struct EventBatch {
  Indices types, next_types;        ///< (B, T); a next type of -1: unknown
  Times times, next_times;          ///< (B, T), ascending
  std::vector<double> places = {};  ///< (B, T, d), if events have places
};
EventBatch empty_event_batch(std::size_t B, std::size_t T);

class EventSource : public Dataset {
 public:
  virtual std::size_t types() const = 0;
  /// Returns the coordinates per place; 0 if events have none.
  virtual std::size_t dimensions() const { return 0; }
  /// Returns the bounding box of the places of training events.
  virtual BoundingBox reach() const { return {}; }
  virtual EventBatch batch(const Examples& examples) const = 0;
  double terms(const Examples& examples) const override {
    const std::vector<std::int32_t> next = batch(examples).next_types.values;
    return double(next.size()) - double(std::ranges::count(next, -1));
  }
  /// Returns the process that generated the events, or null if unknown.
  virtual const HawkesProcess* truth() const { return nullptr; }

 protected:
  using Dataset::Dataset;
};

/// Hawkes process with types in a ring: an event of type l has `branching` children of type l + 1
/// on average, after (l + 1) lag on average. Rate in equilibrium: one event per unit of time.
struct HawkesSpec {
  std::string kernel = "delayed";  ///< "exponential", or "delayed" with a peak (Erlang, shape 8)
  std::size_t types = 3;
  std::size_t length = 64;  ///< events per window (T)
  double branching = 0.8;
  double lag = 3;
};
std::vector<std::string> hawkes_kernels();
inline void describe(Keys& keys, HawkesSpec& spec) {
  keys("types", spec.types, between(1, 1 << 16), "types of events (K)");
  keys("excitation", spec.kernel, one_of(hawkes_kernels),
       "an event makes others more likely at once, then less and less (exponential), or after a "
       "delay (delayed)");
  keys("branching", spec.branching, below(0, 1), "mean number of events that an event causes");
  keys("lag", spec.lag, above(0),
       "mean delay of what the first type causes, in mean gaps; n times that for the n-th type");
}
HawkesProcess hawkes_process(const HawkesSpec& spec);

/// Generated sequences, each from a process without events before time 0.
class HawkesEvents : public EventSource {
 public:
  HawkesEvents(const HawkesSpec& spec, const ExampleSet& examples);
  std::size_t types() const override { return spec_.types; }
  EventBatch batch(const Examples& examples) const override;
  std::uint64_t tokens_per_example() const override { return spec_.length; }
  std::uint64_t fingerprint() const override;
  const HawkesProcess* truth() const override { return &process_; }

 protected:
  std::string describe() const override;

 private:
  HawkesSpec spec_;
  HawkesProcess process_;
};

/// Log-likelihood and intensity of a batch under the true process.
struct EventTruth {
  double time_nats = 0;  ///< sum of -ln density of the next times, time in its own unit
  double type_nats = 0;  ///< sum of -ln probability of the next types at these times
  Times intensity;  ///< (B, T, points, K) at the midpoints of `points` equal parts of every gap
};
EventTruth event_truth(const HawkesProcess& process, const EventBatch& batch, std::size_t points);

}  // namespace bochner

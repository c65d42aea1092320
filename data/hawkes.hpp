#pragma once
/// Multivariate Hawkes processes with known intensity: events that make others more likely.

#include <bochner/data/generated.hpp>

namespace bochner {

/// lambda_k(t) = base_k + sum over events (t_i, l_i) before t of excitation_(k l_i) g_l(t - t_i),
/// with the density of an Erlang distribution g_l(s) = rate_l (rate_l s)^(n-1) / (n-1)!
/// exp(-rate_l s), n = shape: exponential for n = 1, with a peak at lag (n - 1) / rate_l above.
/// Hawkes, "Spectra of some self-exciting and mutually exciting point processes", 1971.
struct HawkesProcess {
  std::vector<double> base;        ///< (K)
  std::vector<double> excitation;  ///< (K, K): mean number of children of type k of one event of l
  std::vector<double> rate;        ///< (K), 1 / time
  std::size_t shape = 1;

  std::size_t types() const { return base.size(); }
  /// (I - excitation)^-1 base: events of each type in a unit of time, after a long time.
  std::vector<double> mean_rate() const;
};

/// What a process remembers of its past: K x shape sums, whatever the number of events.
class HawkesState {
 public:
  explicit HawkesState(const HawkesProcess& process);
  void advance(double span);
  /// An event now.
  void add(std::size_t type);
  double intensity(std::size_t type) const;
  /// Of all types together.
  double intensity() const;
  /// No smaller than intensity() is before the next event.
  double bound() const;
  /// Integral of intensity() since the start.
  double compensator() const;

 private:
  HawkesProcess process_;
  double time_ = 0;
  std::vector<double> counts_;  // (K) events
  std::vector<double> sums_;    // (K, shape): over the past, of Erlang densities of shape 1, 2, ..
  std::vector<double> peaks_;   // (shape): the largest Poisson probabilities of 0, 1, ..
};

struct Event {
  double time;
  std::size_t type;
};
/// The first `count` events after time 0, by thinning. Ogata, "On Lewis' simulation method for
/// point processes", 1981.
std::vector<Event> simulate(const HawkesProcess& process, std::size_t count, Draws draws);

}  // namespace bochner

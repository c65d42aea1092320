#pragma once
#include <bochner/autodiff/keys.hpp>
#include <bochner/autodiff/times.hpp>
#include <bochner/layers/basic/linear.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct IntensitySpec {
  std::size_t types = 2, width = 32;
  std::size_t delays = 6;  ///< mean delays of the waves of intensity, geometrically spaced
  double shortest = 0.25, longest = 16;  ///< in the unit of time
};
inline void describe(Keys& keys, IntensitySpec& spec) {
  keys("delays", spec.delays, between(0, 1024),
       "events: mean delays of the learned waves of intensity after an event");
  keys("shortest", spec.shortest, above(0), "events: the shortest of them, in median gaps");
  keys("longest", spec.longest, above(0), "events: the longest of them, in median gaps");
}

/// What may happen after an event: lambda_k(s) = sum_p a_kp b_p(s) at the time s since it, until
/// the next. a = softplus of a linear map of the event's features; b_0 = 1, and of each delay one
/// that decays, exp(-s / delay), and one that comes and goes, the density of an Erlang distribution
/// of shape 4 times its mean. Integrals are in closed form, so likelihoods are exact.
class Intensity : public Module {
 public:
  explicit Intensity(const IntensitySpec& spec);
  std::size_t types() const { return types_; }
  /// a > 0. (B, T, D) -> (B, T, K, P)
  Var weights(Tape& tape, const Var& x);
  /// ln lambda_k at the times s >= 0. (.., K, P), (..) -> (.., K)
  Var log_intensity(const Var& weights, const Times& s) const;
  /// Integral of sum_k lambda_k from 0 to s. (.., K, P), (..) -> (..)
  Var compensator(const Var& weights, const Times& s) const;
  void visit(Visitor& visitor) override { visitor("linear", linear_); }

 private:
  Tensor basis(const Times& s, bool integrated) const;
  std::size_t types_;
  std::vector<double> delays_;
  Linear linear_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Tangents: derivatives of values in one direction, computed beside them (forward mode).

#include <bochner/autodiff/real.hpp>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

class Var;

/// Tangents that a pass computes beside its values.
enum class Tangents {
  none,
  exact,   ///< tangents are Vars of the tape: their gradients are second derivatives
  fisher,  ///< tangents are constants before the likelihood: its curvature is the only one
};

/// Thrown for an op or a loss that has no tangent, see forward_mode.hpp.
struct TangentError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Adds to the tangent of an op's output y what comes from the tangent d of one input: map(d) or
/// map(d, y), linear in d, by ops. Refers to its arguments: only for calls of record().
class TangentRule {
 public:
  enum Kind {
    general,
    linear,      ///< the op is linear in all its linear inputs
    factor,      ///< the op is linear in this input while no other has a tangent
    likelihood,  ///< the op is minus a log likelihood, convex in this input
  };
  template <class Map>
  TangentRule(const Var& input, const Map& map, Kind kind = general)
      : input(input), kind(kind), map_(&map), call_(call<Map>) {}
  Var operator()(const Var& d, const Var& y) const;

  const Var& input;
  const Kind kind;

 private:
  template <class Map>
  static void call(const void* map, const Var& d, const Var& y, Var& part) {
    if constexpr (std::is_invocable_v<const Map&, const Var&, const Var&>)
      part = (*static_cast<const Map*>(map))(d, y);
    else
      part = (*static_cast<const Map*>(map))(d);
  }
  const void* map_;
  void (*call_)(const void*, const Var&, const Var&, Var&);  // Var is not defined yet
};

/// Returns whether the pass computes a tangent of x.
bool has_tangent(const Var& x);
/// Returns whether one of the inputs has a tangent: then a fused op runs as separate ops.
template <class... Vars>
bool has_tangents(const Vars&... x) {
  return (has_tangent(x) || ...);
}
bool has_tangents(const std::vector<Var>& inputs);

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Keys of mixer "min_gru".

#include <bochner/base/keys.hpp>
#include <string>

namespace bochner {

struct MinGruSpec {
  double expansion = 1;                ///< states in units of the width
  std::string candidate = "positive";  ///< new state: g(c) > 0, or c itself ("linear")
};
inline void describe(Keys& keys, MinGruSpec& spec) {
  keys("min_gru.expansion", spec.expansion, between(0.01, 64), "states in units of model.width");
  keys("min_gru.candidate", spec.candidate, one_of({"positive", "linear"}),
       "new state: c itself (linear), or c + 1/2 for c >= 0 and else sigmoid(c), as in the "
       "log-space form (positive)");
}

}  // namespace bochner

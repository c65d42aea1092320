#pragma once
/// Keys of mixers "ssm", "min_gru", "mamba", "mamba2", "rwkv7" and "log_linear".

#include <bochner/base/keys.hpp>
#include <cstddef>
#include <numbers>
#include <string>

namespace bochner {

struct SsmSpec {
  std::string form = "s4d";
  /// Complex states per channel (s4d, dss), real ones per channel (ema), or complex ones in total
  /// (s5, lru), one per conjugate pair. 0: as published.
  std::size_t states = 0;
  std::string start = "legs";  ///< initial eigenvalues of s4d
  std::size_t blocks = 8;      ///< HiPPO matrices that give the initial eigenvalues of s5
  std::string discretisation = "zoh";
  double step_min = 0.001, step_max = 0.1;  ///< s4d, dss, s5: initial steps, log-uniform between
  double radius_min = 0, radius_max = 1;    ///< lru: initial |eigenvalue|
  double phase = 2 * std::numbers::pi;      ///< lru: largest initial phase
  std::string output = "form";              ///< output layer, see StateOutput
};
inline void describe(Keys& keys, SsmSpec& spec) {
  keys("ssm.form", spec.form, one_of({"s4d", "dss", "s5", "lru", "ema"}),
       "states of each channel, complex (s4d, dss) or real (ema), or of the whole layer between "
       "dense matrices (s5, lru)");
  keys("ssm.states", spec.states, between(0, 1 << 16),
       "states of each channel (s4d, dss, ema) or of the layer (s5, lru), one for a conjugate "
       "pair; 0 as published: 32, 64, 16, width / 2, width");
  keys.when("ssm.form", {"s4d"})(
      "ssm.start", spec.start, one_of({"legs", "lin", "inv"}),
      "initial eigenvalues: HiPPO-LegS, -1/2 + i pi n, or its inverse law");
  keys.when("ssm.form", {"s5"})("ssm.blocks", spec.blocks, between(1, 4096),
                                "HiPPO blocks of the initial eigenvalues; must divide ssm.states");
  keys.when("ssm.form", {"s4d", "dss", "s5"}, [&] {
    keys("ssm.discretisation", spec.discretisation, one_of({"zoh", "bilinear"}),
         "inputs held between tokens (zoh), or the bilinear rule");
    keys("ssm.step_min", spec.step_min, above(0),
         "smallest initial step; 2 / step is a time constant in tokens");
    keys("ssm.step_max", spec.step_max, above(0), "largest initial step");
  });
  keys.when("ssm.form", {"lru"}, [&] {
    keys("ssm.radius_min", spec.radius_min, between(0, 1),
         "smallest absolute value of initial eigenvalues");
    keys("ssm.radius_max", spec.radius_max, between(0, 1),
         "largest absolute value of initial eigenvalues");
    keys("ssm.phase", spec.phase, above(0),
         "largest phase of initial eigenvalues, in radians; small for long sequences");
  });
  keys("ssm.output", spec.output, one_of({"form", "glu", "half_glu", "linear", "none"}),
       "what follows the states y: W x sigmoid(V x) with x = gelu(y), y sigmoid(V gelu(y)), W "
       "gelu(y), nothing; form as published: glu (s4d, lru), half_glu (s5), linear (dss, ema)");
}

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

struct MambaSpec {
  std::size_t states = 16, expansion = 2, convolution = 4, rank = 0;
};
inline void describe(Keys& keys, MambaSpec& spec) {
  keys("mamba.states", spec.states, between(1, 1 << 10), "states of each channel (N)");
  keys("mamba.expansion", spec.expansion, between(1, 16), "inner width in units of model.width");
  keys("mamba.convolution", spec.convolution, between(0, 64),
       "taps of a learned causal convolution on the inputs; 0 for none");
  keys("mamba.rank", spec.rank, between(0, 1 << 16),
       "inner width of the projection to steps; 0 for model.width / 16, rounded up");
}

struct Mamba2Spec {
  std::size_t states = 64, expansion = 2, convolution = 4;
};
inline void describe(Keys& keys, Mamba2Spec& spec) {
  keys("mamba2.states", spec.states, between(1, 1 << 12),
       "states of each channel (N), shared by all heads as keys and queries");
  keys("mamba2.expansion", spec.expansion, between(1, 16), "inner width in units of model.width");
  keys("mamba2.convolution", spec.convolution, between(0, 64),
       "taps of a learned causal convolution on values, keys and queries; 0 for none");
}

struct Rwkv7Spec {
  std::size_t rank = 32;
};
inline void describe(Keys& keys, Rwkv7Spec& spec) {
  keys("rwkv7.rank", spec.rank, between(1, 1 << 16),
       "inner width of the projections to decays, rates and gates");
}

struct LogLinearSpec {
  std::size_t levels = 12;
};
inline void describe(Keys& keys, LogLinearSpec& spec) {
  keys("log_linear.levels", spec.levels, between(2, 64),
       "weights of a token, for itself and for blocks of 1, 1, 2, 4, .. earlier tokens; older "
       "blocks share the last");
}

}  // namespace bochner

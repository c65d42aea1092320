#pragma once
#include <bochner/optim/optimizer.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Steps of the matrices of hidden layers; the other parameters follow adamw.
struct MatrixStep {
  double momentum = 0.95;
  bool nesterov = true;
  std::size_t iterations = 5;  ///< of Newton and Schulz
  std::string scale = "rms";
  std::string normalize = "none";
  double normalize_beta = 0.95;
};
inline void describe(Keys& keys, MatrixStep& spec) {
  keys("momentum", spec.momentum, below(0, 1), "decay of the running mean of a gradient");
  keys("nesterov", spec.nesterov, "Nesterov's look-ahead in the running mean");
  keys("iterations", spec.iterations, between(1, 32), "steps of Newton and Schulz");
  keys("scale", spec.scale, one_of({"rms", "shape"}),
       "factor of an update: 0.2 sqrt(larger side), the size of adamw's (rms), or sqrt(max(1, "
       "outputs / inputs)) (shape)");
  keys("normalize", spec.normalize, one_of({"none", "neurons"}),
       "also divide the update of each output by the root of its running mean square, at equal "
       "size of the whole (neurons: NorMuon)");
  keys.when("normalize", {"neurons"})("normalize_beta", spec.normalize_beta, below(0, 1),
                                      "decay of that mean square");
}

/// The keys of optim.kind = "muon".
struct MuonSpec {
  MatrixStep muon;
};
inline void describe(Keys& keys, MuonSpec& spec) { keys.section("muon", spec.muon); }

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Losses for large vocabularies that sample classes as noise.

#include <bochner/autodiff/ops/sampled_softmax.hpp>
#include <bochner/base/keys.hpp>
#include <bochner/layers/module.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct NoiseSpec {
  std::string kind = "unigram";
  std::size_t draws = 1024;
  double power = 0.75;
};
inline void describe(Keys& keys, NoiseSpec& spec) {
  keys("kind", spec.kind, one_of({"unigram", "uniform"}),
       "noise tokens are drawn as often as they occur in the training data (unigram) or uniformly");
  keys("draws", spec.draws, between(1, 1 << 20),
       "noise tokens for a batch, drawn with replacement and shared by its tokens");
  keys.when("kind", {"unigram"})(
      "power", spec.power, between(0, 4),
      "power of the token frequency; below 1, rare tokens are drawn more often than they occur");
}

/// Computes sampled_softmax() or noise_contrastive() of a linear map of x to V classes; draws
/// depend on the tape's seed and step.
class NoiseLoss : public Module {
 public:
  /// `kind` is "sampled_softmax" or "nce". Noise is uniform until count().
  NoiseLoss(const std::string& kind, const NoiseSpec& spec, std::size_t classes);
  /// Sets unigram noise to (1 + occurrences of each class)^power.
  void count(const std::vector<double>& occurrences);
  /// x (.., D), w (D, V), bias (V), labels (..), -1 for none -> ()
  Var forward(Tape& tape, const Var& x, const Var& w, const Var& bias, const Indices& labels);
  void visit(Visitor& visitor) override {
    visitor("weights", weights_);
    if (log_z_) visitor("log_z", *log_z_);
  }

 private:
  NoiseClasses draw(const RandomFunction& random) const;

  NoiseSpec spec_;
  Tensor weights_;                    // (V), a buffer: sampling weights of classes
  std::unique_ptr<Parameter> log_z_;  // (1) for nce, initially ln V, for scores of 0
};

}  // namespace bochner::inline BOCHNER_PRECISION

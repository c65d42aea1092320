#pragma once
/// Training of large vocabularies by the targets and some classes drawn as noise.

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
  keys(
      "kind", spec.kind, one_of({"unigram", "uniform"}),
      "what noise is drawn from: tokens as often as they occur in the training data, or all alike");
  keys("draws", spec.draws, between(1, 1 << 20),
       "tokens drawn for a batch, with replacement; all of its tokens are held against the same");
  keys("power", spec.power, between(0, 4),
       "of how often a token occurs (unigram): below 1 rare tokens are drawn more often than they "
       "occur");
}

/// sampled_softmax() or noise_contrastive() of what a linear map of x into V classes says, against
/// draws that are a function of the tape's seed and step.
class NoiseLoss : public Module {
 public:
  /// `kind` is "sampled_softmax" or "nce". Noise is uniform until count().
  NoiseLoss(const std::string& kind, const NoiseSpec& spec, std::size_t classes);
  /// Unigram noise is drawn as (1 + how often each class occurs)^power.
  void count(const std::vector<double>& occurrences);
  /// x (.., D), w (D, V), bias (V), labels (..), -1 where none is -> ()
  Var forward(Tape& tape, const Var& x, const Var& w, const Var& bias, const Indices& labels);
  void visit(Visitor& visitor) override;

 private:
  NoiseClasses draw(const RandomFunction& random) const;

  NoiseSpec spec_;
  Tensor weights_;                    // (V), a buffer: as which classes are drawn
  std::unique_ptr<Parameter> log_z_;  // (1) of nce, started at ln V: where all scores are 0
};

}  // namespace bochner::inline BOCHNER_PRECISION

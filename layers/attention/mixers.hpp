#pragma once
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/attention/time_kernel.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Exact softmax attention; the time kernel becomes a learned linear penalty on the lag (ALiBi).
class SoftmaxMixer : public Mixer {
 public:
  explicit SoftmaxMixer(const MixerSpec& spec);
  Var forward(Tape& tape, const Var& x, const Layout& layout) override;
  std::unique_ptr<MixerState> start() const override;
  Var step(Tape& tape, const Var& x, MixerState& state) override;
  void visit(Visitor& visitor) override;

 private:
  void require_regular(bool regular) const;

  bool causal_;
  Projections projections_;
  TimeKernel time_kernel_;
};

/// Linear attention over any feature map, times the time kernel; O(T) in time, constant memory per
/// step.
class LinearMixer : public Mixer {
 public:
  explicit LinearMixer(const MixerSpec& spec);
  Var forward(Tape& tape, const Var& x, const Layout& layout) override;
  std::unique_ptr<MixerState> start() const override;
  Var step(Tape& tape, const Var& x, MixerState& state) override;
  void visit(Visitor& visitor) override;

 private:
  /// Features as attention takes them: signed ones under the policy for denominators.
  struct Pair {
    Features q, k;
    real floor;
  };
  Pair features_of(Tape& tape, const Projections::Heads& heads, std::size_t first,
                   const Var& turns);

  bool causal_;
  std::size_t chunk_;
  std::string kind_;
  DenominatorSpec denominator_;
  Projections projections_;
  std::unique_ptr<FeatureMap> features_;
  TimeKernel time_kernel_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

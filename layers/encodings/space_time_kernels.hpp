#pragma once
/// Encodings whose kernels depend on differences only, whatever is learned: sines and cosines share
/// frequency and gain.

#include <bochner/layers/encodings/space_time.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A Fourier encoding with a learned gain a_f for each frequency: kernel mean of a_f^2 cos(w_f .
/// (x - y)).
class WeighedFourier : public Module {
 public:
  explicit WeighedFourier(const FourierSpec& spec);
  /// (N, 2m)
  Var at(Tape& tape, const Places& places);
  /// (n_1 .. n_d, 2m)
  Var grid(Tape& tape, const GridAxes& axes);
  std::size_t width() const { return 2 * gain_.shape()[0]; }
  void visit(Visitor& visitor) override;

 private:
  Var weighed(Tape& tape, const Var& encoding);
  FourierEncoding fourier_;
  Parameter gain_;
};

/// [PE_space, PE_time] with gains: kernel K_space + K_time. "additive" is added to the content and
/// fills its D channels, half of them by each part; "concatenated" stands beside the content.
class AdditiveKernel : public SpaceTimeEncoding {
 public:
  explicit AdditiveKernel(const SpaceTimeSpec& spec);
  Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) override;
  Var at(Tape& tape, const Places& places, const std::vector<double>& times) override;
  std::size_t width() const override { return space_.width() + time_.width(); }
  bool stands_beside() const override { return stands_beside_; }
  void visit(Visitor& visitor) override;

 private:
  bool stands_beside_;
  WeighedFourier space_, time_;
};

/// Frequencies of space and time jointly: kernel mean of a_f^2 cos(w_f . (x - y) + v_f (t - s)), a
/// product of K_space and K_time where both are even and drawn independently. D / 2 frequencies.
class MultiplicativeKernel : public SpaceTimeEncoding {
 public:
  explicit MultiplicativeKernel(const SpaceTimeSpec& spec);
  Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) override;
  Var at(Tape& tape, const Places& places, const std::vector<double>& times) override;
  std::size_t width() const override { return joint_.width(); }
  void visit(Visitor& visitor) override;

 private:
  double time_unit_;  // frequencies of time have another scale at the start than those of space
  WeighedFourier joint_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

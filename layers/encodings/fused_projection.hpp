#pragma once
#include <bochner/layers/encodings/space_time.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// W [PE_space; PE_time] with learned W and frequencies. The kernel is PE^T W W^T PE', and K_s +
/// K_t if the blocks of W share no channel. "space" and "time" have one part only. A grid takes N +
/// T projections, W_s PE_s + W_t PE_t, not N T.
class FusedProjection : public SpaceTimeEncoding {
 public:
  explicit FusedProjection(const SpaceTimeSpec& spec);
  Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) override;
  Var at(Tape& tape, const Places& places, const std::vector<double>& times) override;
  /// Computes grid() of a regular grid by FFT, within 1e-6 of the amplitudes in float; for many
  /// frequencies. Passes no gradients. -> (T, N, D)
  Tensor grid_by_fft(const GridAxes& space, const std::vector<double>& times);
  std::size_t width() const override { return weight_.shape()[1]; }
  /// Returns the inputs of W: [PE_space; PE_time]. (N, 2 m_s + 2 m_t)
  Var inputs(Tape& tape, const Places& places, const std::vector<double>& times);
  /// Returns N + T + 1 rows x with the x^T x of inputs() at all N T points of a grid.
  Tensor grid_inputs(Tape& tape, const GridAxes& space, const std::vector<double>& times);
  /// Returns W, (2 m_s + 2 m_t, D); rows of space come first.
  Parameter& weight() { return weight_; }
  /// Mask of W: 0 where pruning fixed W at 0, also in further training.
  Tensor& mask() { return mask_; }
  void visit(Visitor& visitor) override;

 private:
  std::size_t space_rows() const;
  Var joined(const Var& in_space, const Var& in_time, std::size_t T, std::size_t N) const;
  std::unique_ptr<FourierEncoding> space_, time_;
  Parameter weight_;
  Tensor mask_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

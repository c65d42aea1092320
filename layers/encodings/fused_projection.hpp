#pragma once
#include <bochner/layers/encodings/space_time.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// W [PE_space; PE_time] with learned W and frequencies: kernel PE^T W W^T PE', K_s + K_t where the
/// blocks of W have no channel in common. "space" and "time" keep one of the parts. On a grid it is
/// W_s PE_s + W_t PE_t: N + T projections, not N T.
class FusedProjection : public SpaceTimeEncoding {
 public:
  explicit FusedProjection(const SpaceTimeSpec& spec);
  Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) override;
  Var at(Tape& tape, const Places& places, const std::vector<double>& times) override;
  /// grid() of a regular grid by FFT, up to 1e-6 of the amplitudes in float: for many frequencies.
  /// It passes no gradients. -> (T, N, D)
  Tensor grid_by_fft(const GridAxes& space, const std::vector<double>& times);
  std::size_t width() const override { return weight_.shape()[1]; }
  /// What W is applied to: [PE_space; PE_time]. (N, 2 m_s + 2 m_t)
  Var inputs(Tape& tape, const Places& places, const std::vector<double>& times);
  /// Rows x with the x^T x of inputs() at every node and time of a grid: N + T + 1 of them, not N
  /// T.
  Tensor grid_inputs(Tape& tape, const GridAxes& space, const std::vector<double>& times);
  /// W, (2 m_s + 2 m_t, D): rows of the space come first.
  Parameter& weight() { return weight_; }
  /// 1 where W may differ from 0, of its shape: what pruning clears, also for training that goes
  /// on.
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

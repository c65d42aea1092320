#pragma once
/// Encodings of points in space and time, named after their kernels, the inner products.

#include <bochner/base/join.hpp>
#include <bochner/base/registry.hpp>
#include <bochner/layers/encodings/space_fourier.hpp>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

class SpaceTimeEncoding;
struct SpaceTimeSpec;
/// Registry of the kinds, without "none".
Registry<SpaceTimeEncoding, SpaceTimeSpec>& space_time_encodings();
/// Returns the names of all kinds, with "none".
std::vector<std::string> space_time_names();

struct SpaceTimeSpec {
  std::string kind = "fused";
  std::size_t width = 128;  ///< of the tokens (D)
  FourierSpec space = {};
  FourierSpec time = {.dimensions = 1, .stream = 1};
  OwnSpecs own = {};  ///< of encodings added to the registry
};
inline void describe(Keys& keys, SpaceTimeSpec& spec) {
  keys("kind", spec.kind, one_of(space_time_names),
       "how places and times enter: one projection of both Fourier encodings (fused), of one of "
       "them, or a kernel by name; see space-time.md");
  keys("frequencies", spec.space.kind, one_of(fourier_kinds),
       "frequencies: learned, learned along the axes (axes), random and fixed, or fixed on the "
       "axes in a geometric or linear series");
  keys("start", spec.space.start, one_of(fourier_starts),
       "initial learned frequencies: Gaussian, or on the axes in a geometric or linear series");
  spec.time.kind = spec.space.kind;
  spec.time.start = spec.space.start;
  keys("space", spec.space.frequencies, between(1, 1 << 16), "frequencies of space");
  keys("time", spec.time.frequencies, between(1, 1 << 16), "frequencies of time");
  keys("space_scale", spec.space.scale, above(0),
       "initial deviation of the frequencies of space, in turns across the grid; of a series, the "
       "highest");
  keys("time_scale", spec.time.scale, above(0), "the same for time, in turns over the frames");
  space_time_encodings().describe_own(keys, spec.own);
}

inline void describe_every_block(Keys& keys, bool& every_block) {
  keys("encoding.every_block", every_block, "add the encoding, with one W, before every block");
}

/// One frequency of an encoding, and the parameters by which its sine and cosine are multiplied:
/// without any of them the encoding does not have the frequency.
struct EncodedFrequency {
  std::string part;             ///< "space", "time" or "joint", whose first coordinate is time
  std::vector<double> radians;  ///< per unit of each coordinate
  std::vector<std::span<real>> factors;
};

class SpaceTimeEncoding : public Module {
 public:
  /// Encodes all N nodes of a grid in space at each of T times. -> (T, N, E), E = width()
  virtual Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) = 0;
  /// Encodes the points places[n] at times[n]. -> (N, E)
  virtual Var at(Tape& tape, const Places& places, const std::vector<double>& times) = 0;
  virtual std::size_t width() const = 0;
  /// Returns all frequencies, part by part; none by default. Valid while the encoding lives.
  virtual std::vector<EncodedFrequency> frequencies() { return {}; }
  /// Returns whether the encoding is appended to a token's content, rather than added to it.
  virtual bool is_concatenated() const { return false; }
};

/// Makes an encoding, see docs/space-time.md; null for "none". "fused", "space" and "time" project
/// Fourier encodings; "additive", "concatenated", "multiplicative" are shift-invariant kernels.
std::unique_ptr<SpaceTimeEncoding> make_space_time(const SpaceTimeSpec& spec);
/// Makes an encoding of places with so many dimensions, for a stack of this width.
std::unique_ptr<SpaceTimeEncoding> make_space_time(SpaceTimeSpec spec, std::size_t width,
                                                   std::size_t dimensions);

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
  std::vector<EncodedFrequency> frequencies() override;
  /// Returns the inputs of W: [PE_space; PE_time]. (N, 2 m_s + 2 m_t)
  Var inputs(Tape& tape, const Places& places, const std::vector<double>& times);
  /// Returns N + T + 1 rows x with the x^T x of inputs() at all N T points of a grid.
  Tensor grid_inputs(Tape& tape, const GridAxes& space, const std::vector<double>& times);
  /// Returns W, (2 m_s + 2 m_t, D); rows of space come first.
  Parameter& weight() { return weight_; }
  /// Mask of W: 0 where pruning fixed W at 0, also in further training.
  Tensor& mask() { return mask_; }
  void visit(Visitor& visitor) override {
    if (space_) visitor("space", *space_);
    if (time_) visitor("time", *time_);
    visitor("weight", weight_);
    visitor("mask", mask_);
  }

 private:
  std::size_t space_rows() const { return space_ ? 2 * space_->frequencies().shape()[0] : 0; }
  Var joined(const Var& in_space, const Var& in_time, std::size_t T, std::size_t N) const;
  std::unique_ptr<FourierEncoding> space_, time_;
  Parameter weight_;
  Tensor mask_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

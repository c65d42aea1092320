#pragma once
/// Encodings of points of space and time, named after the kernel that their inner products are.

#include <bochner/layers/encodings/space_fourier.hpp>
#include <bochner/layers/registry.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct SpaceTimeSpec {
  std::string kind = "fused";
  std::size_t width = 128;  ///< of the tokens: D
  FourierSpec space, time;  ///< time.dimensions must be 1
};

class SpaceTimeEncoding : public Module {
 public:
  /// At every node of a grid in space, N of them, and each of T times. -> (T, N, E)
  virtual Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) = 0;
  /// At any points: places[n] at times[n]. -> (N, E)
  virtual Var at(Tape& tape, const Places& places, const std::vector<double>& times) = 0;
  /// E
  virtual std::size_t width() const = 0;
  /// Whether it stands beside the content of a token, in channels of its own, or is added to it.
  virtual bool stands_beside() const { return false; }
};

/// Null for "none"; for the other kinds see docs/space-time.md. "fused", "space" and "time" are
/// projections of Fourier encodings; "additive", "concatenated" and "multiplicative" are
/// shift-invariant kernels by construction.
std::unique_ptr<SpaceTimeEncoding> make_space_time(const SpaceTimeSpec& spec);
/// The kinds that configs may name, without "none".
Registry<SpaceTimeEncoding, SpaceTimeSpec>& space_time_encodings();

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Encodings of points in space and time, named after their kernels, the inner products.

#include <bochner/layers/encodings/space_fourier.hpp>
#include <bochner/layers/registry.hpp>

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

class SpaceTimeEncoding : public Module {
 public:
  /// Encodes all N nodes of a grid in space at each of T times. -> (T, N, E), E = width()
  virtual Var grid(Tape& tape, const GridAxes& space, const std::vector<double>& times) = 0;
  /// Encodes the points places[n] at times[n]. -> (N, E)
  virtual Var at(Tape& tape, const Places& places, const std::vector<double>& times) = 0;
  virtual std::size_t width() const = 0;
  /// Returns whether the encoding is appended to a token's content, rather than added to it.
  virtual bool is_concatenated() const { return false; }
};

/// Makes an encoding, see docs/space-time.md; null for "none". "fused", "space" and "time" project
/// Fourier encodings; "additive", "concatenated", "multiplicative" are shift-invariant kernels.
std::unique_ptr<SpaceTimeEncoding> make_space_time(const SpaceTimeSpec& spec);
/// Makes an encoding of places with so many dimensions, for a stack of this width.
std::unique_ptr<SpaceTimeEncoding> make_space_time(SpaceTimeSpec spec, std::size_t width,
                                                   std::size_t dimensions);

}  // namespace bochner::inline BOCHNER_PRECISION

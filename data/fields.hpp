#pragma once
/// Generated fields on a periodic grid whose next frame is known exactly.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/data/generated.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct FieldSpec {
  std::string kind = "advection_diffusion";
  std::size_t frames = 8, height = 12, width = 12;
  std::size_t components = 4;  ///< Fourier modes, or travelling Gaussians and waves
  double speed = 1;            ///< largest velocity along each axis, pixels a frame
  double diffusivity = 0.1;    ///< largest, pixels^2 a frame (advection_diffusion)
  double noise = 0;            ///< deviation of what is added to the frames that are seen
};
/// "moving_pattern", "advection_diffusion": what data.kind may name.
std::vector<std::string> field_kinds();

/// What is seen, and the field of one frame later, exact and without noise. (B, T, H, W), (B, H, W)
struct FieldBatch {
  Tensor frames, next;
};

/// One example is a random field:
///
///   moving_pattern       a sum of Gaussians and plane waves, each with a velocity of its own
///   advection_diffusion  u_t + v . grad u = kappa laplace u for random v, kappa and first frame,
///                        solved exactly: every Fourier mode turns and decays
///
/// The first frame has mean 0 and variance 1 over examples.
class Fields {
 public:
  /// Throws std::invalid_argument when the kind is unknown or a size is 0.
  Fields(const FieldSpec& spec, const ExampleSet& examples);
  const FieldSpec& spec() const { return spec_; }
  const ExampleSet& examples() const { return examples_; }
  /// Training examples first, ..., first + count - 1, counted on from epoch to epoch.
  FieldBatch batch(std::uint64_t first, std::size_t count) const;
  FieldBatch validation_batch(std::uint64_t index, std::size_t size) const;
  std::uint64_t fingerprint() const;

 private:
  template <class DrawsOf>
  FieldBatch gather(std::size_t count, const DrawsOf& draws_of) const;
  FieldSpec spec_;
  ExampleSet examples_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Fields and what follows them; generated ones on a periodic grid are known exactly.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/data/generated.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct FieldSpec {
  std::string kind = "advection_diffusion";
  std::size_t frames = 8, height = 12, width = 12;
  std::size_t components = 4;
  double speed = 1, diffusivity = 0.1, noise = 0;
};
inline void describe(Keys& keys, FieldSpec& spec) {
  keys("frames", spec.frames, between(1, 1 << 16), "fields: frames that are seen (T)");
  const auto side = [&](const char* name, std::size_t& pixels, const char* words) {
    std::size_t wanted = 0;  // that of the Spec, or of films
    keys(name, wanted, between(0, 1 << 12), words);
    if (wanted > 0) pixels = wanted;
  };
  side("height", spec.height,
       "fields: pixels of a column (H), at least 3; 0 for 12, or that of the files");
  side("width", spec.width,
       "fields: pixels of a row (W), at least 3; 0 for 12, or that of the files");
  keys("components", spec.components, between(1, 1 << 12),
       "fields: Fourier modes, or travelling Gaussians and waves");
  keys("speed", spec.speed, at_least(0),
       "fields: largest velocity along each axis, in pixels a frame");
  keys("diffusivity", spec.diffusivity, at_least(0),
       "advection_diffusion: largest diffusivity, in pixels^2 a frame");
  keys("noise", spec.noise, at_least(0),
       "fields: deviation of the noise on the frames that are seen");
}
/// "moving_pattern", "advection_diffusion": what data.kind may name.
std::vector<std::string> field_kinds();

/// What is seen, and the field of one frame later, exact and without noise. (B, T, H, W), (B, H, W)
struct FieldBatch {
  Tensor frames, next;
};

/// Frames that are seen, and pixels of a column and of a row.
struct FieldSize {
  std::size_t frames, height, width;
};
struct FieldMoments {
  double mean = 0, deviation = 1;
};

/// Examples of fields, functions of their number.
class FieldSource {
 public:
  virtual ~FieldSource() = default;
  const ExampleSet& examples() const { return examples_; }
  virtual FieldSize size() const = 0;
  /// Training examples first, ..., first + count - 1, counted on from epoch to epoch.
  virtual FieldBatch batch(std::uint64_t first, std::size_t count) const = 0;
  virtual FieldBatch validation_batch(std::uint64_t index, std::size_t size) const = 0;
  virtual std::uint64_t fingerprint() const = 0;
  virtual std::string describe() const = 0;

 protected:
  explicit FieldSource(const ExampleSet& examples) : examples_(examples) {}
  FieldBatch empty_batch(std::size_t count) const;
  ExampleSet examples_;
};

/// One example is a random field:
///
///   moving_pattern       a sum of Gaussians and plane waves, each with a velocity of its own
///   advection_diffusion  u_t + v . grad u = kappa laplace u for random v, kappa and first frame,
///                        solved exactly: every Fourier mode turns and decays
///
/// The first frame has mean 0 and variance 1 over examples.
class Fields : public FieldSource {
 public:
  /// Throws std::invalid_argument when the kind is unknown or a size is 0.
  Fields(const FieldSpec& spec, const ExampleSet& examples);
  const FieldSpec& spec() const { return spec_; }
  FieldSize size() const override { return {spec_.frames, spec_.height, spec_.width}; }
  FieldBatch batch(std::uint64_t first, std::size_t count) const override;
  FieldBatch validation_batch(std::uint64_t index, std::size_t size) const override;
  std::uint64_t fingerprint() const override;
  std::string describe() const override { return spec_.kind; }

 private:
  template <class DrawsOf>
  FieldBatch gather(std::size_t count, const DrawsOf& draws_of) const;
  FieldSpec spec_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

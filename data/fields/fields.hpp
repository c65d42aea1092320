#pragma once
/// Fields and their next frame; generated ones on a periodic grid are exact.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/data/dataset.hpp>

namespace bochner {

struct FieldSpec {
  std::string kind = "advection_diffusion";
  std::size_t frames = 8;
  std::size_t dimensions = 2;  ///< of space: 1 to 3
  std::size_t planes = 12, height = 12, width = 12;
  std::size_t components = 4;
  double speed = 1, diffusivity = 0.1, noise = 0;
  std::size_t patch = 1;  ///< side of a token's patch, in pixels

  /// Returns (width), (height, width) or (planes, height, width).
  std::vector<std::size_t> sides() const;
};
inline void describe(Keys& keys, FieldSpec& spec) {
  keys("frames", spec.frames, between(1, 1 << 16), "frames that the model sees (T)");
  keys("dimensions", spec.dimensions, between(1, 3),
       "dimensions: width, or height and width, or planes, height and width");
  const auto side = [&](const char* name, std::size_t& pixels, const char* words) {
    std::size_t wanted = 0;  // 0: keep the Spec's, or the films'
    keys(name, wanted, between(0, 1 << 12), words);
    if (wanted > 0) pixels = wanted;
  };
  keys.when("dimensions", {"3"}, [&] {
    side("planes", spec.planes, "planes (D), at least 3; 0 for 12, or as the files");
  });
  keys.when("dimensions", {"2", "3"}, [&] {
    side("height", spec.height, "pixels of a column (H), at least 3; 0 for 12, or as the files");
  });
  side("width", spec.width, "pixels of a row (W), at least 3; 0 for 12, or as the files");
  keys.when(unless("data.kind", {"field_files"}), [&] {
    keys("components", spec.components, between(1, 1 << 12),
         "Fourier modes, or travelling Gaussians and waves");
    keys("speed", spec.speed, at_least(0), "largest velocity along each axis, in pixels a frame");
  });
  keys.when("kind", {"advection_diffusion"})("diffusivity", spec.diffusivity, at_least(0),
                                             "largest diffusivity, in pixels^2 a frame");
  keys.when(unless("data.kind", {"field_files"}))(
      "noise", spec.noise, at_least(0), "deviation of the noise on the frames that are seen");
}
/// Returns the values of FieldSpec::kind: "moving_pattern", "advection_diffusion".
std::vector<std::string> field_kinds();

/// Input frames and the exact, noise-free field one frame later. (B, T, H, W), (B, H, W) in two
/// dimensions, (B, T, W), (B, W) in one, (B, T, D, H, W), (B, D, H, W) in three
struct FieldBatch {
  Tensor frames, next;
};

/// Number of input frames, and pixels along each axis, the slowest axis first.
struct FieldSize {
  std::size_t frames;
  std::vector<std::size_t> sides;

  std::size_t pixels() const;
  /// Counts patches of this side in a frame.
  std::size_t patches(std::size_t side) const;
  std::string text() const;
};

class FieldSource : public Dataset {
 public:
  virtual FieldSize size() const = 0;
  virtual FieldBatch batch(const Examples& examples) const = 0;
  std::uint64_t tokens_per_example() const override {
    return size().frames * size().patches(patch_);
  }

 protected:
  FieldSource(const ExampleSet& examples, std::size_t patch) : Dataset(examples), patch_(patch) {}
  FieldBatch empty_batch(std::size_t count) const;
  /// Describes the data: "advection_diffusion, 8 frames of 12 x 12".
  std::string describe() const override;
  virtual std::string describe_films() const = 0;

 private:
  std::size_t patch_;
};

/// Random fields, one per example:
///
///   moving_pattern       a sum of Gaussians and plane waves, each with its own velocity
///   advection_diffusion  u_t + v . grad u = kappa laplace u for random v, kappa and first frame,
///                        solved exactly: every Fourier mode turns and decays
///
/// The first frame has mean 0 and variance 1 over examples.
class Fields : public FieldSource {
 public:
  /// Throws std::invalid_argument for an unknown kind or too small sizes.
  Fields(const FieldSpec& spec, const ExampleSet& examples);
  const FieldSpec& spec() const { return spec_; }
  FieldSize size() const override { return {spec_.frames, spec_.sides()}; }
  FieldBatch batch(const Examples& examples) const override;
  std::uint64_t fingerprint() const override;

 protected:
  std::string describe_films() const override { return spec_.kind; }

 private:
  FieldSpec spec_;
};

}  // namespace bochner

#pragma once
/// Images as sequences: each pixel is a token of its brightness, row after row (sequential MNIST;
/// the image task of the Long Range Arena, Tay et al. 2021).

#include <bochner/data/formats/images.hpp>
#include <bochner/data/labelled/labelled.hpp>

namespace bochner {

enum PixelToken : std::int32_t {
  pixel_class = 256,  ///< class token before the image
  pixel_vocabulary
};

/// Images of files: the first `train` ones train, others validate. A colour pixel is three tokens.
class ImageSequences : public LabelledSequences {
 public:
  /// Throws DataError if there is no image to train on.
  ImageSequences(Images images, std::uint64_t train, std::uint64_t seed, bool class_token);
  ImageShape image() const override { return {images_.height, images_.width, images_.channels}; }
  std::uint64_t fingerprint() const override;

 protected:
  std::string describe() const override;
  LabelledExample example(Split split, std::uint64_t index) const override;

 private:
  Images images_;
  bool class_token_;
};

struct ShapesSpec {
  static constexpr std::size_t smallest_side = 12;
  std::size_t side = 16;
  bool class_token = false;
};
inline void describe(Keys& keys, ShapesSpec& spec) {
  keys("side", spec.side, between(ShapesSpec::smallest_side, 1024), "pixels of a side");
}

/// Generated grey images of one kind.
class GeneratedImages : public LabelledSequences {
 public:
  ImageShape image() const override { return {spec_.side, spec_.side, 1}; }
  std::uint64_t fingerprint() const override {
    return examples_.fingerprint(kind_, {spec_.side, spec_.class_token});
  }

 protected:
  /// Throws std::invalid_argument for a side below the smallest.
  GeneratedImages(const char* kind, std::size_t smallest_side, std::size_t classes,
                  const ShapesSpec& spec, const ExampleSet& examples);
  std::string describe() const override;
  LabelledExample example(Split split, std::uint64_t index) const override;
  std::size_t side() const { return spec_.side; }

 private:
  /// Sets the label and appends the pixels.
  virtual void draw(Draws draws, LabelledExample& example) const = 0;

  const char* kind_;
  ShapesSpec spec_;
};

/// Generated grey images for tests and examples: one of four shapes (outline of a square, disc,
/// upright cross, diagonal cross) anywhere, of radius side / 6 to side / 4, in noise. Brightness is
/// uniform on 96 to 255 inside and on 0 to 159 outside, so that no single pixel reveals the shape.
class Shapes : public GeneratedImages {
 public:
  Shapes(const ShapesSpec& spec, const ExampleSet& examples)
      : GeneratedImages("shapes", ShapesSpec::smallest_side, 4, spec, examples) {}

 private:
  void draw(Draws draws, LabelledExample& example) const override;
};

/// Returns where the numbers of an image go in order of square patches, row by row, for a side that
/// divides both sides of the image. -> (rows columns channels)
std::vector<std::size_t> patch_order(const ImageShape& shape, std::size_t side);

}  // namespace bochner

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/labelled/pixels.hpp>
#include <cstdlib>
#include <utility>

namespace bochner {
namespace {

enum ShapeKind : std::int32_t { square_outline, disc, upright_cross, diagonal_cross };

/// Returns whether the shape of this radius covers the pixel at (x, y) from its centre.
bool covers(std::int32_t kind, int radius, int x, int y) {
  const int across = std::max(std::abs(x), std::abs(y));
  if (across > radius) return false;
  if (kind == square_outline) return across == radius;
  if (kind == disc) return x * x + y * y <= radius * radius;
  if (kind == upright_cross) return x == 0 || y == 0;
  return std::abs(x) == std::abs(y);
}

}  // namespace

ImageSequences::ImageSequences(Images images, std::uint64_t train, std::uint64_t seed,
                               bool class_token)
    : LabelledSequences({seed, train, images.size() - train},
                        {pixel_vocabulary, 0, images.pixels_each() + class_token}),
      images_(std::move(images)),
      class_token_(class_token) {
  if (train == 0) throw DataError("data.files: there is no image to train on");
  sizes_.classes = 1 + std::size_t(std::ranges::max(images_.labels));
}

LabelledExample ImageSequences::example(Split split, std::uint64_t index) const {
  if (split == Split::validation) index += examples_.train;
  const std::size_t count = images_.pixels_each();
  const std::uint8_t* pixels = images_.pixels.data() + index * count;
  LabelledExample example{{}, images_.labels[index]};
  if (class_token_) example.tokens.push_back(pixel_class);
  example.tokens.insert(example.tokens.end(), pixels, pixels + count);
  return example;
}

std::uint64_t ImageSequences::fingerprint() const {
  const std::uint64_t pixels = digest_of_elements(images_.pixels);
  const std::uint64_t labels = digest_of_elements(images_.labels);
  return examples_.fingerprint(
      "images", {images_.height, images_.width, images_.channels, pixels, labels, class_token_});
}

std::string ImageSequences::describe() const {
  return in_words("images, ", images_.height, " x ", images_.width,
                  images_.channels == 1 ? " grey" : " x " + std::to_string(images_.channels), ", ",
                  classes(), " classes");
}

GeneratedImages::GeneratedImages(const char* kind, std::size_t smallest_side, std::size_t classes,
                                 const ShapesSpec& spec, const ExampleSet& examples)
    : LabelledSequences(examples,
                        {pixel_vocabulary, classes, spec.side * spec.side + spec.class_token}),
      kind_(kind),
      spec_(spec) {
  require(spec.side >= smallest_side, kind, "data.side = ", spec.side, ": must be at least ",
          smallest_side);
}

LabelledExample GeneratedImages::example(Split split, std::uint64_t index) const {
  LabelledExample example;
  if (spec_.class_token) example.tokens.push_back(pixel_class);
  draw(draws_of(examples_, split, index), example);
  return example;
}

std::string GeneratedImages::describe() const {
  return in_words(kind_, ", ", spec_.side, " x ", spec_.side, " grey");
}

void Shapes::draw(Draws draws, LabelledExample& example) const {
  const std::size_t side = this->side(), smallest = side / 6, largest = side / 4;
  const int radius = int(smallest + draws.below(largest - smallest + 1));
  const std::uint64_t places = side - 2 * std::uint64_t(radius);
  const int centre_x = radius + int(draws.below(places)),
            centre_y = radius + int(draws.below(places));
  example.label = std::int32_t(draws.below(classes()));
  for (int y = 0; y < int(side); ++y)
    for (int x = 0; x < int(side); ++x) {
      const int lowest = covers(example.label, radius, x - centre_x, y - centre_y) ? 96 : 0;
      example.tokens.push_back(lowest + int(draws.below(160)));
    }
}

std::vector<std::size_t> patch_order(const ImageShape& shape, std::size_t side) {
  std::vector<std::size_t> order;
  for (std::size_t top = 0; top < shape.rows; top += side)
    for (std::size_t left = 0; left < shape.columns; left += side)
      for (std::size_t row = top; row < top + side; ++row)
        for (std::size_t i = 0; i < side * shape.channels; ++i)
          order.push_back((row * shape.columns + left) * shape.channels + i);
  return order;
}

}  // namespace bochner

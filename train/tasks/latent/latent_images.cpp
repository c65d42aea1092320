#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/ceil_div.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/latent/latent_format.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t picture_columns = 8;  // images of a mosaic in each direction

/// Conversion of images to square patches, row by row, of pixels that are 0 or 1.
class BinaryPatches {
 public:
  BinaryPatches(const Config& config, const ImageShape& shape)
      : shape_(shape),
        patch_(config.count("model.patch.pixels")),
        drawn_(config.text("model.vae.binarise") == "drawn") {
    if (shape_.rows % patch_ != 0 || shape_.columns % patch_ != 0)
      fail(config, "model.patch.pixels",
           fmt::format("must divide the {} x {} pixels of an image", shape_.rows, shape_.columns));
    order_ = patch_order(shape_, patch_);
  }

  const ImageShape& shape() const { return shape_; }
  std::size_t pixels() const { return order_.size(); }
  std::size_t values() const { return patch_ * patch_ * shape_.channels; }

  Observed blank(std::size_t B) const {
    return {uninitialized({B, pixels() / values(), values()}), {}};
  }

  /// Sets row `row` of x; its pixel i draws random number first + i.
  void binarise(const std::int32_t* pixels, std::size_t row, Observed& x,
                const RandomFunction& random, std::uint64_t first) const {
    real* values = x.values.data() + row * order_.size();
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const double border = drawn_ ? random.uniform(first + order_[i]) : 0.5;
      values[i] = double(pixels[order_[i]]) / 255 > border ? 1 : 0;
    }
  }

  /// Returns images with brightness 0 to 255. (B, T, n) -> (B, height, width[, channels])
  NamedArray in_place(const Tensor& values) const {
    const std::size_t pixels = order_.size(), B = values.size() / pixels;
    std::vector<std::size_t> shape{B, shape_.rows, shape_.columns};
    if (shape_.channels > 1) shape.push_back(shape_.channels);
    NamedArray images;
    images.values.resize(shape);
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t i = 0; i < pixels; ++i)
        images.values.data()[b * pixels + order_[i]] = 255 * double(values.data()[b * pixels + i]);
    return images;
  }

 private:
  ImageShape shape_;
  std::size_t patch_;
  bool drawn_;
  std::vector<std::size_t> order_;  // of pixels: patch by patch
};

class LatentImageFormat : public LatentFormat {
 public:
  LatentImageFormat(const Config& config, LabelFacts facts)
      : facts_(std::move(facts)),
        patches_(config, facts_.image()),
        seed_(config.count("train.seed")) {
    if (patches_.pixels() == 0) throw DataError("facts lack the size of images");
    for (const LabelledBatch& one : facts_.specimens)
      if (one.tokens.values.size() != patches_.pixels())
        throw DataError("facts hold an image of another size");
  }

  std::string facts() const override { return encode_facts(facts_); }

  void complete(VaeSpec& spec) const override {
    spec.observed = "binary";
    spec.values = patches_.values();
    spec.tokens = patches_.pixels() / spec.values;
  }

  Observed read(const NamedArray& input, const VariationalAutoencoder&) const override {
    return binarised(pixels_of(input, patches_.shape()));
  }
  std::size_t specimens() const override { return facts_.specimens.size(); }
  Observed specimen(std::size_t i, const VariationalAutoencoder&) const override {
    return binarised({facts_.specimens[i].tokens.values});
  }

  NamedArray expected(const Tensor& decoded, const VariationalAutoencoder&) const override {
    return patches_.in_place(sigmoid(Var(decoded)).value());
  }
  NamedArray as_array(const Observed& x, const VariationalAutoencoder&) const override {
    return patches_.in_place(x.values);
  }

  void draw(Page& page, const NamedArray& seen, const NamedArray& expected,
            const NamedArray& samples) const override {
    page.charts({bochner::draw(mosaic("samples of the prior", {&samples})),
                 bochner::draw(mosaic("images, with reconstructions below", {&seen, &expected}))},
                card_width(heat_map_width));
  }

  void draw_categories(Page& page, const NamedArray& expected,
                       const std::vector<std::string>&) const override {
    page.charts({bochner::draw(mosaic("categories, row by row", {&expected}))},
                card_width(heat_map_width));
  }

 private:
  Observed binarised(const std::vector<std::vector<std::int32_t>>& images) const {
    Observed x = patches_.blank(images.size());
    for (std::size_t b = 0; b < images.size(); ++b)
      patches_.binarise(images[b].data(), b, x,
                        {seed_, Purpose::sampling, stream_of("binarised input")},
                        b * patches_.pixels());
    return x;
  }

  /// Arranges images in a grid, image i of each set below each other; averages channels.
  HeatMap mosaic(const std::string& title, const std::vector<const NamedArray*>& sets) const {
    const ImageShape& shape = patches_.shape();
    const std::size_t h = shape.rows + 1, w = shape.columns + 1, C = shape.channels;
    const std::size_t n =
        std::min(sets[0]->values.shape()[0], picture_columns * picture_columns / sets.size());
    const std::size_t lines = ceil_div(n, picture_columns) * sets.size();
    HeatMap map;
    map.title = title;
    map.rows = lines * h - 1, map.columns = picture_columns * w - 1;
    map.values.assign(map.rows * map.columns, std::nan(""));
    map.lowest = 0, map.highest = 255;
    for (std::size_t i = 0; i < n * sets.size(); ++i) {
      const std::size_t image = i / sets.size(), set = i % sets.size();
      const std::size_t top = (image / picture_columns * sets.size() + set) * h,
                        left = image % picture_columns * w;
      const double* pixel = sets[set]->values.data() + image * patches_.pixels();
      for (std::size_t y = 0; y < shape.rows; ++y)
        for (std::size_t x = 0; x < shape.columns; ++x, pixel += C)
          map.values[(top + y) * map.columns + left + x] =
              std::accumulate(pixel, pixel + C, 0.0) / double(C);
    }
    return map;
  }

  LabelFacts facts_;
  BinaryPatches patches_;
  std::uint64_t seed_;
};

class LatentImages : public LatentData {
 public:
  LatentImages(const Config& config, const KnownFacts& known)
      : data_(config, known),
        facts_(encode_facts(image_facts(config, data_, known))),
        patches_(config, data_.sequences->image()),
        seed_(config.count("train.seed")) {}

  const Dataset& data() const override { return *data_.sequences; }
  std::string facts() const override { return facts_; }

  Observed batch(const Examples& examples, const VariationalAutoencoder&) const override {
    const LabelledBatch batch = data_.sequences->batch(examples);
    const std::size_t pixels = patches_.pixels();
    Observed x = patches_.blank(examples.size());
    for (std::size_t b = 0; b < examples.size(); ++b) {
      const Examples::Number number = examples.numbers[b];
      const std::uint64_t validates = examples.split == Split::train ? 0 : 1;
      const RandomFunction random{seed_, Purpose::sampling,
                                  stream_of("binarised") + 2 * number.epoch + validates};
      patches_.binarise(batch.tokens.values.data() + b * pixels, b, x, random,
                        number.index * pixels);
    }
    return x;
  }

 private:
  LabelData data_;
  std::string facts_;
  BinaryPatches patches_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<LatentData> latent_images(const Config& config, const KnownFacts& known) {
  return std::make_unique<LatentImages>(config, known);
}

std::unique_ptr<LatentFormat> latent_image_format(const Config& config, const KnownFacts& facts) {
  return std::make_unique<LatentImageFormat>(
      config, facts.bytes.empty() ? smallest_image_facts(config) : facts.of<LabelFacts>());
}

}  // namespace bochner

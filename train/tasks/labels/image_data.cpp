#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <bochner/train/tasks/labels/image_data.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>
#include <utility>

namespace bochner {
namespace {

Images images_of(const std::vector<std::string>& files) {
  return read_images(expand_files(files, std::filesystem::current_path()));
}

void require_classes(const Config& config, const Images& images) {
  if (config.text("model.kind") != "classifier") return;
  const auto differs = [&](std::uint8_t label) { return label != images.labels[0]; };
  if (images.size() > 0 && std::ranges::none_of(images.labels, differs))
    throw DataError("data.files: all images have the label ", int(images.labels[0]),
                    "; a classifier needs at least two labels");
}

std::unique_ptr<LabelledSequences> images_in_files(const Config& config, bool class_token) {
  const auto data = read_spec<DataSpec>(config, "data");
  const auto spec = read_spec<ImagesSpec>(config, "data");
  Images images = images_of(data.files);
  std::uint64_t train = images.size();
  if (spec.validation_files.empty())
    train -= held_out(train, data.validation);
  else
    append_images(images, images_of(spec.validation_files), "data.validation_files");
  require_classes(config, images);
  if (spec.grey) images = to_grey(images);
  return std::make_unique<ImageSequences>(std::move(images), train, config.count("train.seed"),
                                          class_token);
}

/// Throws DataError for other axes, even if they hold as many numbers: pixels would be permuted.
void require_images(const NamedArray& input, const ImageShape& shape) {
  const std::vector<std::size_t> given(input.values.shape().begin(), input.values.shape().end());
  const std::size_t n = given.empty() ? 0 : given[0];
  const auto is = [&](std::vector<std::size_t> axes) {
    axes.insert(axes.begin(), n);
    return n > 0 && given == axes;
  };
  const bool grey = shape.channels == 1;
  if (is({shape.rows, shape.columns, shape.channels})) return;
  if (grey && (is({shape.rows, shape.columns}) || is({shape.rows * shape.columns}))) return;
  const bool channels_first = is({shape.channels, shape.rows, shape.columns});
  throw DataError("the input has the shape ", shape_text(given), ", not that of images of ",
                  shape.rows, " x ", shape.columns, " x ", shape.channels, " numbers; ",
                  channels_first ? "transpose it to (n, height, width, channels)"
                                 : "give an array (n, height, width, channels)");
}

}  // namespace

std::unique_ptr<LabelledSequences> image_sequences(const Config& config, bool class_token) {
  if (config.text("data.kind") == "images") return images_in_files(config, class_token);
  auto spec = read_spec<ShapesSpec>(config, "data");
  spec.class_token = class_token;
  return std::make_unique<Shapes>(spec, example_set(config));
}

std::vector<std::vector<std::int32_t>> pixels_of(const NamedArray& input, const ImageShape& shape) {
  require_images(input, shape);
  const std::size_t n = input.values.shape()[0];
  const std::size_t pixels = shape.rows * shape.columns * shape.channels;
  std::vector<std::vector<std::int32_t>> images(n);
  for (std::size_t i = 0; i < n * pixels; ++i) {
    const double value = input.values.data()[i];
    if (!(value >= 0 && value <= 255 && value == std::floor(value)))
      throw DataError("image ", i / pixels + 1, ": ", value,
                      " is not a whole brightness from 0 to 255");
    images[i / pixels].push_back(std::int32_t(value));
  }
  return images;
}

}  // namespace bochner

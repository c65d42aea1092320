#include <bochner/base/errors.hpp>
#include <bochner/data/formats/images.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <cmath>
#include <tuple>

namespace bochner {
namespace {

constexpr std::size_t cifar_side = 32, cifar_channels = 3;
constexpr std::size_t cifar_plane = cifar_side * cifar_side;
constexpr std::size_t cifar_pixels = cifar_channels * cifar_plane;
constexpr std::uint8_t labels_of_10 = 10, coarse_labels = 20, fine_labels = 100;

bool has_records(ByteSpan file, const std::vector<std::uint8_t>& classes) {
  const std::size_t record = classes.size() + cifar_pixels;
  if (file.empty() || file.size() % record != 0) return false;
  for (std::size_t at = 0; at < file.size(); at += record)
    for (std::size_t label = 0; label < classes.size(); ++label)
      if (file[at + label] >= classes[label]) return false;
  return true;
}

void require_size(Images& images, std::size_t height, std::size_t width, std::size_t channels,
                  const std::string& name) {
  if (images.pixels.empty())
    std::tie(images.height, images.width, images.channels) = std::tie(height, width, channels);
  if (height != images.height || width != images.width || channels != images.channels)
    throw DataError(name, ": its images differ in size from those before");
}

/// Appends CIFAR records: planes of red, green and blue become three bytes per pixel.
void add_cifar(Images& images, ByteSpan file, const std::string& name) {
  const std::size_t record = cifar_record(file);
  require_size(images, cifar_side, cifar_side, cifar_channels, name);
  for (; !file.empty(); file = file.subspan(record)) {
    const ByteSpan planes = file.subspan(record - cifar_pixels);
    images.labels.push_back(file[record - cifar_pixels - 1]);
    for (std::size_t pixel = 0; pixel < cifar_plane; ++pixel)
      for (std::size_t channel = 0; channel < cifar_channels; ++channel)
        images.pixels.push_back(planes[channel * cifar_plane + pixel]);
  }
}

void add_idx(Images& images, ByteSpan file, const std::string& name) {
  const StoredArray array = parse_idx(file, name);
  const auto bytes = array.elements<std::uint8_t>();
  const auto& shape = array.shape();
  const std::size_t axes = shape.size();
  if (!bytes || (axes != 1 && axes != 3 && axes != 4) || bytes->empty())
    throw DataError(name, ": holds ", shape_text(shape), " of ", to_string(array.type()),
                    "; images are (n, height, width) and labels (n,) of uint8");
  if (axes > 1) require_size(images, shape[1], shape[2], axes == 4 ? shape[3] : 1, name);
  auto& target = axes == 1 ? images.labels : images.pixels;
  target.insert(target.end(), bytes->begin(), bytes->end());
}

}  // namespace

std::size_t cifar_record(ByteSpan file) {
  if (has_records(file, {labels_of_10})) return 1 + cifar_pixels;
  return has_records(file, {coarse_labels, fine_labels}) ? 2 + cifar_pixels : 0;
}

void add_images(Images& images, ByteSpan file, const std::string& name) {
  if (is_idx(file)) return add_idx(images, file, name);
  if (cifar_record(file) > 0) return add_cifar(images, file, name);
  throw DataError(name, ": is neither an IDX file nor CIFAR in the binary version");
}

Images read_images(const std::vector<std::filesystem::path>& files, bool labelled) {
  Images images;
  for (const auto& path : files) {
    const Input input = open_input(path);
    add_images(images, input.bytes(), input.name());
  }
  const std::size_t count =
      images.pixels_each() == 0 ? 0 : images.pixels.size() / images.pixels_each();
  if (!labelled && images.labels.empty()) images.labels.resize(count);
  if (count == 0 || count != images.labels.size())
    throw DataError("the ", files.size(), " files of images hold ", count, " images and ",
                    images.labels.size(), " labels; name the files of both, each once");
  return images;
}

void append_images(Images& images, const Images& more, const std::string& name) {
  require_size(images, more.height, more.width, more.channels, name);
  images.pixels.insert(images.pixels.end(), more.pixels.begin(), more.pixels.end());
  images.labels.insert(images.labels.end(), more.labels.begin(), more.labels.end());
}

Images to_grey(const Images& images) {
  if (images.channels != 3) return images;
  Images grey{images.height, images.width, 1, {}, images.labels};
  grey.pixels.reserve(images.pixels.size() / 3);
  for (std::size_t i = 0; i < images.pixels.size(); i += 3) {
    const std::uint8_t* pixel = &images.pixels[i];
    grey.pixels.push_back(
        std::uint8_t(std::lround(0.2989 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2])));
  }
  return grey;
}

}  // namespace bochner

#pragma once
/// Sets of images with labels.

#include <bochner/data/files/gzip.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace bochner {

/// Images of one size, one after the other.
struct Images {
  std::size_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels;  ///< (examples, height, width, channels)
  std::vector<std::uint8_t> labels;  ///< (examples)

  std::size_t pixels_each() const { return height * width * channels; }
  std::size_t size() const { return labels.size(); }
};

/// The bytes of a record, 3073 or 3074, where the file can be CIFAR-10 or CIFAR-100 in the binary
/// version (Krizhevsky): one or two labels and 3 x 32 x 32 pixels, no label out of its range. Else
/// 0.
std::size_t cifar_record(ByteSpan file);

/// Adds what one file holds: images or labels of IDX, or both of CIFAR (of CIFAR-100 the fine
/// label). Throws DataError for another format and for images of another size than those before.
void add_images(Images& images, ByteSpan file, const std::string& name);
/// All images of the files, plain or gzip; labels follow in the order of their images. Throws
/// DataError unless each image has its label.
Images read_images(const std::vector<std::filesystem::path>& files);
/// Adds the images of another set. Throws DataError when they have another size.
void append_images(Images& images, const Images& more, const std::string& name);
/// One channel for three: 0.2989 R + 0.587 G + 0.114 B, rounded, as in the Long Range Arena.
Images to_grey(const Images& images);

}  // namespace bochner

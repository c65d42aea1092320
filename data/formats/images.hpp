#pragma once
/// Sets of images with labels.

#include <bochner/data/files/gzip.hpp>
#include <filesystem>

namespace bochner {

struct Images {
  std::size_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels;  ///< (examples, height, width, channels)
  std::vector<std::uint8_t> labels;  ///< (examples)

  std::size_t pixels_each() const { return height * width * channels; }
  std::size_t size() const { return labels.size(); }
};

/// Returns the bytes of a record, 3073 or 3074, if the file can be CIFAR-10 or CIFAR-100 in the
/// binary version (Krizhevsky): one or two labels, all in range, and 3 x 32 x 32 pixels. Else 0.
std::size_t cifar_record(ByteSpan file);

/// Appends the images or labels of an IDX file, or both of CIFAR (the fine label of CIFAR-100).
/// Throws DataError for another format and for images of another size.
void add_images(Images& images, ByteSpan file, const std::string& name);
/// Reads the images of the files, plain or gzip, and their labels, in the same order. Images of
/// which none has a label get the label 0, unless `labelled`. Throws DataError if some lack a
/// label.
Images read_images(const std::vector<std::filesystem::path>& files, bool labelled = true);
/// Appends the images of another set. Throws DataError if their size differs.
void append_images(Images& images, const Images& more, const std::string& name);
/// Converts to one channel: 0.2989 R + 0.587 G + 0.114 B, rounded, as the Long Range Arena does.
Images to_grey(const Images& images);

}  // namespace bochner

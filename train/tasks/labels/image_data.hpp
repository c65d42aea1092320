#pragma once
#include <bochner/data/formats/array.hpp>
#include <bochner/data/labelled/pixels.hpp>
#include <bochner/train/config/config.hpp>
#include <memory>

namespace bochner {

/// Opens the images of data.kind "images", in files, or "shapes", generated.
std::unique_ptr<LabelledSequences> image_sequences(const Config& config, bool class_token);

/// Flattens images (n, rows, columns, channels), grey ones also (n, rows, columns) or (n, pixels),
/// row by row with the channels of a pixel together. Throws DataError for other shapes, and for
/// numbers that are not whole or not from 0 to 255.
std::vector<std::vector<std::int32_t>> pixels_of(const NamedArray& input, const ImageShape& shape);

}  // namespace bochner

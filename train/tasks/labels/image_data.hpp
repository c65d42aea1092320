#pragma once
/// Images, as a config says.

#include <bochner/data/formats/array.hpp>
#include <bochner/data/labelled/pixels.hpp>
#include <bochner/train/config/config.hpp>
#include <memory>

namespace bochner {

/// Those of data.kind "images", in files, or "shapes".
std::unique_ptr<LabelledSequences> image_sequences(const Config& config, bool class_token);

/// Images (n, rows, columns, channels) of a user's, grey ones also (n, rows, columns) and
/// (n, pixels), as sequences of brightness, each row by row with the channels of a pixel together.
/// Throws DataError for another shape, and for what is no brightness.
std::vector<std::vector<std::int32_t>> pixels_of(const NamedArray& input, const ImageShape& shape);

}  // namespace bochner

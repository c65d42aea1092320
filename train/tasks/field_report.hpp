#pragma once
/// Fields and their encodings in pictures.

#include <bochner/train/charts/page.hpp>

namespace bochner {

/// Frames of one example, (rows, columns) each.
struct FieldPicture {
  std::string title;
  std::size_t rows, columns;
  std::vector<double> last, truth, prediction;
};
/// Last frame, truth, prediction and error side by side, one example after the other.
void add_fields(Page& page, const std::vector<FieldPicture>& fields);

/// Encoding of N = rows columns places and T times in E channels, (T, N, E).
struct EncodingPicture {
  std::size_t times, rows, columns, channels;
  std::vector<double> values;
};
/// The encoding by place and by time, and its inner products with one place and among times.
void add_encoding(Page& page, const EncodingPicture& encoding);

}  // namespace bochner

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/tasks/field_report.hpp>
#include <cmath>

namespace bochner {
namespace {

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Colours from -reach to reach.
std::string frame(const FieldPicture& field, const std::string& title,
                  const std::vector<double>& values, double reach) {
  return draw(HeatMap{.title = title,
                      .x_label = "x",
                      .y_label = "y",
                      .rows = field.rows,
                      .columns = field.columns,
                      .values = values,
                      .lowest = -reach,
                      .highest = reach});
}

double product(const EncodingPicture& encoding, std::size_t a, std::size_t b) {
  const double* values = encoding.values.data();
  double sum = 0;
  for (std::size_t e = 0; e < encoding.channels; ++e)
    sum += values[a * encoding.channels + e] * values[b * encoding.channels + e];
  return sum;
}

/// With the place in the middle, at the middle time; 1 there.
HeatMap kernel_in_space(const EncodingPicture& encoding) {
  HeatMap map{"kernel: one place with all", "x", "y", encoding.rows, encoding.columns};
  const std::size_t places = encoding.rows * encoding.columns;
  const std::size_t first = encoding.times / 2 * places;
  const std::size_t middle = first + encoding.rows / 2 * encoding.columns + encoding.columns / 2;
  for (std::size_t n = 0; n < places; ++n)
    map.values.push_back(product(encoding, middle, first + n) / product(encoding, middle, middle));
  return map;
}

/// Of one place, between all times.
HeatMap kernel_in_time(const EncodingPicture& encoding) {
  HeatMap map{"kernel: one place, all times", "frame", "frame", encoding.times, encoding.times};
  const std::size_t places = encoding.rows * encoding.columns;
  for (std::size_t t = 0; t < encoding.times; ++t) {
    for (std::size_t s = 0; s < encoding.times; ++s)
      map.values.push_back(product(encoding, t * places, s * places) / product(encoding, 0, 0));
  }
  return map;
}

/// Rows first, first + stride, .. of the encoding.
HeatMap channels_of(const EncodingPicture& encoding, const std::string& title,
                    const std::string& label, std::size_t count, std::size_t stride) {
  HeatMap map{title, "channel", label, count, encoding.channels};
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = encoding.values.data() + i * stride * encoding.channels;
    map.values.insert(map.values.end(), row, row + encoding.channels);
  }
  return map;
}

}  // namespace

void add_fields(Page& page, const std::vector<FieldPicture>& fields) {
  page.section("Fields",
               "The first validation examples: last frame that is seen, next frame, its "
               "prediction, and prediction less truth in colours of its own.");
  for (const FieldPicture& field : fields) {
    std::vector<double> error(field.truth.size());
    for (std::size_t i = 0; i < error.size(); ++i) error[i] = field.prediction[i] - field.truth[i];
    const double reach = std::max(largest_magnitude(field.last), largest_magnitude(field.truth));
    page.paragraph(field.title);
    page.charts(
        {frame(field, "last frame", field.last, reach), frame(field, "truth", field.truth, reach),
         frame(field, "prediction", field.prediction, reach),
         frame(field, "error", error, largest_magnitude(error))},
        220);
  }
}

void add_encoding(Page& page, const EncodingPicture& encoding) {
  const std::size_t places = encoding.rows * encoding.columns;
  page.section("Encoding of space and time",
               "Channels of all places of the first frame, row by row, and of all times of the "
               "first place; then its kernel, the inner products.");
  page.charts({draw(channels_of(encoding, "encoding by place", "place", places, 1)),
               draw(channels_of(encoding, "encoding by time", "frame", encoding.times, places)),
               draw(kernel_in_space(encoding)), draw(kernel_in_time(encoding))},
              220);
}

}  // namespace bochner

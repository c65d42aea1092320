#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/tasks/field_report.hpp>
#include <cmath>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr int picture_width = 220;

/// Encoding of N = rows columns places and T times in E channels, (T, N, E).
struct Encoding {
  std::size_t times, rows, columns, channels;
  std::vector<double> values;
};

/// n elements from `first` on.
std::vector<double> numbers(const Tensor& x, std::size_t first, std::size_t n) {
  return std::vector<double>(x.data() + first, x.data() + first + n);
}

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

double product(const Encoding& encoding, std::size_t a, std::size_t b) {
  const double* values = encoding.values.data();
  double sum = 0;
  for (std::size_t e = 0; e < encoding.channels; ++e)
    sum += values[a * encoding.channels + e] * values[b * encoding.channels + e];
  return sum;
}

/// With the place in the middle, at the middle time; 1 there.
HeatMap kernel_in_space(const Encoding& encoding) {
  HeatMap map{"kernel: one place with all", "x", "y", encoding.rows, encoding.columns};
  const std::size_t places = encoding.rows * encoding.columns;
  const std::size_t first = encoding.times / 2 * places;
  const std::size_t middle = first + encoding.rows / 2 * encoding.columns + encoding.columns / 2;
  for (std::size_t n = 0; n < places; ++n)
    map.values.push_back(product(encoding, middle, first + n) / product(encoding, middle, middle));
  return map;
}

/// Of one place, between all times.
HeatMap kernel_in_time(const Encoding& encoding) {
  HeatMap map{"kernel: one place, all times", "frame", "frame", encoding.times, encoding.times};
  const std::size_t places = encoding.rows * encoding.columns;
  for (std::size_t t = 0; t < encoding.times; ++t) {
    for (std::size_t s = 0; s < encoding.times; ++s)
      map.values.push_back(product(encoding, t * places, s * places) / product(encoding, 0, 0));
  }
  return map;
}

/// Rows first, first + stride, .. of the encoding.
HeatMap channels_of(const Encoding& encoding, const std::string& title, const std::string& label,
                    std::size_t count, std::size_t stride) {
  HeatMap map{title, "channel", label, count, encoding.channels};
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = encoding.values.data() + i * stride * encoding.channels;
    map.values.insert(map.values.end(), row, row + encoding.channels);
  }
  return map;
}

}  // namespace

void add_fields(Page& page, const FieldBatch& fields, const Tensor& prediction) {
  page.section("Fields",
               "The first validation examples: last frame that is seen, next frame, its "
               "prediction, and prediction less truth in colours of its own.");
  const Shape& shape = fields.frames.shape();
  const std::size_t T = shape[1], H = shape[2], W = shape[3], n = H * W;
  // Colours from -reach to reach.
  const auto frame = [&](const char* title, const std::vector<double>& values, double reach) {
    return draw(HeatMap{.title = title,
                        .x_label = "x",
                        .y_label = "y",
                        .rows = H,
                        .columns = W,
                        .values = values,
                        .lowest = -reach,
                        .highest = reach});
  };
  for (std::size_t b = 0; b < shape[0]; ++b) {
    const std::vector<double> last = numbers(fields.frames, (b * T + T - 1) * n, n),
                              truth = numbers(fields.next, b * n, n),
                              predicted = numbers(prediction, b * n, n);
    std::vector<double> error(n);
    std::transform(predicted.begin(), predicted.end(), truth.begin(), error.begin(),
                   std::minus<>());
    const double reach = std::max(largest_magnitude(last), largest_magnitude(truth));
    page.paragraph(fmt::format("Example {}", b));
    page.charts(
        {frame("last frame", last, reach), frame("truth", truth, reach),
         frame("prediction", predicted, reach), frame("error", error, largest_magnitude(error))},
        picture_width);
  }
}

void add_encoding(Page& page, FieldModel& model) {
  const FieldModelSpec& spec = model.spec();
  Tape tape;
  tape.recording = false;
  const Tensor code = model.encoding(tape).value();
  const Encoding encoding{spec.frames, spec.height / spec.patch, spec.width / spec.patch,
                          code.shape()[2], numbers(code, 0, code.size())};
  const std::size_t places = encoding.rows * encoding.columns;
  page.section("Encoding of space and time",
               "Channels of all places of the first frame, row by row, and of all times of the "
               "first place; then its kernel, the inner products.");
  page.charts({draw(channels_of(encoding, "encoding by place", "place", places, 1)),
               draw(channels_of(encoding, "encoding by time", "frame", encoding.times, places)),
               draw(kernel_in_space(encoding)), draw(kernel_in_time(encoding))},
              picture_width);
}

}  // namespace bochner::inline BOCHNER_PRECISION

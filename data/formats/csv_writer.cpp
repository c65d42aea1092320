#include <bochner/base/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/csv_records.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <cmath>

namespace bochner {
namespace {

std::string quoted_where_needed(const std::string& text, char delimiter) {
  const std::string special = std::string("\"\r\n") + delimiter;
  if (text.find_first_of(special) == text.npos && trimmed(text) == text) return text;
  std::string quoted = "\"";
  for (const char character : text) quoted += character == '"' ? "\"\"" : std::string(1, character);
  return quoted + "\"";
}

}  // namespace

void write_csv(const NamedArray& array, const Sink& sink, char delimiter) {
  const auto& values = array.values;
  require(values.dimension() == 1 || values.dimension() == 2, "csv", "an array of ",
          values.dimension(), " axes is not a table; CSV holds one or two");
  const std::size_t width = values.dimension() == 1 ? 1 : values.shape(1);
  std::string text;
  for (std::size_t i = 0; i < array.columns.size(); ++i) {
    if (i > 0) text += delimiter;
    text += quoted_where_needed(array.columns[i], delimiter);
  }
  if (!text.empty()) text += '\n';
  std::vector<bool> dates(width);
  for (std::size_t i = 0; i < width; ++i) dates[i] = is_column_of_dates(array, i);
  for (std::size_t row = 0; row < values.shape(0); ++row) {
    for (std::size_t i = 0; i < width; ++i) {
      const double value = values.data()[row * width + i];
      if (i > 0) text += delimiter;
      if (const auto texts = array.texts.find(i); texts != array.texts.end() && !std::isnan(value))
        text += quoted_where_needed(texts->second.at(std::size_t(value)), delimiter);
      else if (dates[i] && array.time == i && row < array.offsets.size())
        text += format_time(value, array.offsets[row]);
      else
        text += dates[i] ? format_time(value) : number_text(array, i, value);
    }
    text += '\n';
    if (text.size() < piece_size) continue;
    sink(text);
    text.clear();
  }
  sink(text);
}

}  // namespace bochner

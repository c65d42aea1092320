#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/time_step.hpp>
#include <bochner/train/tasks/config_templates/inferred_clock.hpp>
#include <bochner/train/tasks/config_templates/inferred_pause.hpp>
#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr double earliest_second = 1e8;  // 1973; smaller numbers do not count from 1970
constexpr double latest_second = 1e11;   // after the year 5000; milliseconds since 1974 are more

struct DateFormat {
  std::size_t digits;
  const char* format;
};
constexpr DateFormat date_formats[] = {{14, "%Y%m%d%H%M%S"}, {12, "%Y%m%d%H%M"}, {10, "%Y%m%d%H"},
                                       {8, "%Y%m%d"},        {6, "%Y%m"},        {4, "%Y"}};

/// Returns whether a number is a date of a plausible year: 1900 to 2199, or from 1000 for years
/// alone.
bool is_date(double number, const DateFormat& as) {
  if (!(number >= 1000 && number < 1e15) || number != std::floor(number)) return false;
  const std::string text = std::to_string(std::uint64_t(number));
  if (text.size() != as.digits || !parse_time(text, as.format)) return false;
  const std::string year = text.substr(0, 4);
  return year < "2200" && (as.digits == 4 || year >= "1900");
}

std::optional<std::string> format_of_dates(const std::vector<double>& numbers) {
  for (const DateFormat& each : date_formats)
    if (std::ranges::all_of(numbers, [&](double number) { return is_date(number, each); }))
      return each.format;
  return std::nullopt;
}

bool is_counter(const std::vector<double>& numbers) {
  const TimeStep step(numbers);
  const auto is_gap = [&](double one, double next) { return step.between(one, next) != 1; };
  return step.is_regular() && std::ranges::adjacent_find(numbers, is_gap) == numbers.end();
}

std::optional<std::string> format_of_numbers(const std::vector<double>& numbers,
                                             const std::string& column) {
  if (const auto format = format_of_dates(numbers)) return format;
  const double largest = std::max(-numbers.front(), numbers.back());
  if (largest < earliest_second) return is_counter(numbers) ? "" : "%s";
  if (largest < latest_second) return "%s";
  if (largest < 1000 * latest_second) return "%Q";
  throw DataError("column ", excerpt(column), ": ", std::to_string(std::llround(numbers.back())),
                  " looks like microseconds or nanoseconds, which data.time_format cannot read; "
                  "write milliseconds since 1970, or dates");
}

}  // namespace

std::optional<std::string> format_of_clock(const std::filesystem::path& file,
                                           const std::string& column, const CsvOptions& options) {
  ReadOptions reading{.csv = options};
  reading.csv.columns = {column};
  reading.csv.missing = "nan";
  const xt::xarray<double> table = read_array(file, reading).values;
  const std::vector<double> numbers(table.data(), table.data() + table.size());
  if (!are_increasing(numbers)) return std::nullopt;
  const auto format = format_of_numbers(numbers, column);
  CsvOptions as = options;
  as.time_format = format.value_or("");
  const bool is_read = as.time_format.empty() || !times_of(file, column, {}, as).empty();
  return is_read ? format : std::nullopt;  // %s does not read 1.7e9
}

}  // namespace bochner

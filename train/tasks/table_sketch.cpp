#include <algorithm>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/text.hpp>
#include <bochner/data/files/utf8.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/tasks/table_sketch.hpp>
#include <set>

namespace bochner {

std::optional<std::size_t> TableSketch::called(std::string_view wanted) const {
  const auto same = [&](const std::string& name) { return lower_case(name) == wanted; };
  const auto found = std::ranges::find_if(names, same);
  return found == names.end() ? std::nullopt : std::optional(found - names.begin());
}

TableSketch sketch_of(std::string_view text, const std::string& name) {
  const CsvDialect dialect = csv_dialect(text, name, {});
  const CsvSample sample = csv_sample(text, name, dialect.delimiter, dialect.quote);
  if (sample.empty()) throw DataError(name, ": is empty, or its quotes do not end");
  const auto is_value = [&](const std::string& field) { return is_csv_value(field, dialect); };
  TableSketch sketch;
  sketch.has_header = !std::ranges::all_of(sample[0], is_value);
  for (std::size_t i = 0; i < sample[0].size(); ++i) {
    const bool named = sketch.has_header && !sample[0][i].empty();
    sketch.names.push_back(named ? sample[0][i] : std::to_string(i + 1));
    if (!is_utf8(sketch.names.back()))
      throw DataError(name, ": the column name ", excerpt(sketch.names.back()),
                      " is not UTF-8, which configs are; convert the file: iconv -f WINDOWS-1252 "
                      "-t UTF-8 FILE >NEW.csv");
    bool numbers = true, times = true, whole = true, any = false;
    std::set<std::string> texts;
    for (std::size_t row = sketch.has_header ? 1 : 0; row < sample.size(); ++row) {
      if (i >= sample[row].size() || is_missing(sample[row][i])) continue;
      any = true;
      texts.insert(sample[row][i]);
      numbers &= parse_number(sample[row][i], dialect.decimal).has_value();
      whole &= parse_count(sample[row][i]).has_value();
      times &= parse_time(sample[row][i], dialect.time_format).has_value();
    }
    sketch.texts.push_back(texts.size());
    if (any && numbers && whole) sketch.whole_numbers.push_back(i);
    if (any) (numbers ? sketch.numbers : times ? sketch.times : sketch.words).push_back(i);
  }
  sketch.sampled = sample.size() - (sketch.has_header ? 1 : 0);
  const auto lines = std::size_t(std::count(text.begin(), text.end(), '\n'));
  sketch.rows = lines + (text.ends_with('\n') ? 0 : 1) - (sketch.has_header ? 1 : 0);
  return sketch;
}

}  // namespace bochner

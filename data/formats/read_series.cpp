#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/csv_header.hpp>
#include <bochner/data/formats/file_endings.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/data/formats/read_series.hpp>
#include <bochner/data/formats/sound_files.hpp>

namespace bochner {
namespace {

namespace fs = std::filesystem;

/// Returns the name of an array of an NPZ file in small or capital letters, or "".
std::string array_called(const Npz& npz, char name) {
  for (const std::string& array : npz.names())
    if (lower_case(array) == std::string(1, name)) return array;
  return "";
}

RealSeriesSet series_of_npz(ByteSpan file, const std::string& name) {
  const Npz npz(file, name);
  const std::string x = array_called(npz, 'x'), y = array_called(npz, 'y');
  if (x.empty()) throw DataError("has no array x of series");
  const xt::xarray<double> values = npz.values(x);
  if (y.empty()) return series_of_arrays(values, nullptr);
  const xt::xarray<double> labels = npz.values(y);
  return series_of_arrays(values, &labels);
}

/// Returns the options with only the columns of series that a table has, if its channels are named:
/// others may hold texts, and there may be no labels.
CsvOptions only_series_columns(std::string_view text, const std::string& name,
                               const ReadOptions& options) {
  CsvOptions csv = options.csv;
  const RealSeriesColumns& columns = options.series->columns;
  if (columns.channels.empty()) return csv;
  const CsvDialect dialect = csv_dialect(text, name, csv);
  const CsvSample sample = csv_sample(text, name, dialect.delimiter, dialect.quote);
  if (sample.empty() || !has_csv_header(sample, name, dialect, csv)) return csv;
  std::vector<std::string> wanted = {columns.series, columns.label, columns.time};
  wanted.insert(wanted.end(), columns.channels.begin(), columns.channels.end());
  for (const std::string& column : wanted)
    if (std::ranges::count(sample[0], column) > 0 && std::ranges::count(csv.columns, column) == 0)
      csv.columns.push_back(column);
  return csv;
}

RealSeriesSet series_of_csv(std::string_view text, const std::string& name,
                            const ReadOptions& options) {
  return labelled_series_of(parse_csv(text, name, only_series_columns(text, name, options)),
                            *options.series);
}

/// Calls parse() and adds the name to those of its errors that lack it.
template <class Parse>
RealSeriesSet with_name(const std::string& name, const Parse& parse) try {
  return parse();
} catch (const DataError& error) {
  const std::string what = error.what();
  if (what.starts_with(name + ":")) throw;
  throw DataError(name, ": ", what);
}

RealSeriesSet series_of_file(const fs::path& path, const ReadOptions& options) {
  const Input input = open_input(path);
  RealSeriesSet set = parse_labelled_series(input.bytes(), input.name(), options);
  const std::string& from = options.series->label_from;
  for (RealSeries& one : set.series) {
    if (from != "file") one.label = label_of_path(path, from);
    if (set.series.size() == 1 && one.name.empty()) one.name = path.filename().string();
  }
  return set;
}

}  // namespace

RealSeriesSet labelled_series_of(const NamedArray& table, const SeriesOptions& options) {
  if (options.layout == "wide") return series_of_rows(table, options.columns, options.labelled);
  if (options.label_from != "file") return series_of_all_rows(table, options.columns);
  return series_of_table(table, options.columns, options.labelled);
}

RealSeriesSet parse_labelled_series(ByteSpan file, const std::string& name,
                                    const ReadOptions& options) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::string kind = file_kind(file);
  return with_name(name, [&] {
    if (kind == "series") return parse_series(text, name);
    if (kind == "sound") return parse_sound(file, name);
    if (kind == "npz") return series_of_npz(file, name);
    if (kind == "npy") return series_of_arrays(parse_npy(file, name).values(), nullptr);
    refuse_foreign(name, text);
    return series_of_csv(text, name, options);
  });
}

RealSeriesSet read_labelled_series(const fs::path& path, const ReadOptions& options) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return series_of_file(path, options);
  RealSeriesSet all;
  for (const fs::path& file : expand_files({(path / "**").string()}, fs::current_path())) {
    RealSeriesSet set = series_of_file(file, options);
    for (RealSeries& one : set.series)
      if (one.name == file.filename())
        one.name = fs::absolute(file).lexically_relative(fs::absolute(path).lexically_normal());
    with_name(file.string(), [&] {
      append_series(all, std::move(set));
      return RealSeriesSet();
    });
  }
  return all;
}

bool holds_labelled_series(ByteSpan npz, const std::string& name) try {
  const Npz arrays(npz, name);
  const std::string x = array_called(arrays, 'x'), y = array_called(arrays, 'y');
  return !x.empty() && !y.empty() && arrays.values(x).dimension() > 1;
} catch (const DataError&) {
  return false;  // reading it tells more
}

std::string label_of_path(const fs::path& file, const std::string& label_from) {
  if (label_from == "folder") return fs::absolute(file).parent_path().filename().string();
  const std::string name = file.filename().string();
  const std::size_t end = name.find('_');
  return end == name.npos ? "" : name.substr(0, end);
}

}  // namespace bochner

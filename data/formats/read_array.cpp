#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/base/xtensor.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/file_endings.hpp>
#include <bochner/data/formats/images.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/formats/read_series.hpp>
#include <bochner/data/formats/sound_files.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <cmath>
#include <cstring>

namespace bochner {
namespace {

bool begins(ByteSpan file, std::string_view mark) {
  return file.size() >= mark.size() && std::memcmp(file.data(), mark.data(), mark.size()) == 0;
}

std::string_view text_of(ByteSpan file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

std::uint64_t demanded_size(ByteSpan front, const std::string& name) {
  if (begins(front, npy_magic)) return parse_npy_header(front, name).file_size();
  if (is_idx(front)) return parse_idx_header(front, name).file_size();
  return input_limit;
}

NamedArray parse_cifar(ByteSpan file, const std::string& name) {
  const std::size_t record = cifar_record(file);
  const StoredLayout layout{{'u', 1}, false, {file.size() / record, record}, 0};
  return {StoredArray(layout, file, name).values(), {}};
}

bool is_table(const NamedArrays& arrays) {
  return !arrays.empty() && std::ranges::all_of(arrays, [&](const auto& array) {
    return array.second.dimension() == 1 && array.second.size() == arrays[0].second.size();
  });
}

NamedArray table_of(const NamedArrays& arrays) {
  const std::size_t rows = arrays[0].second.size(), width = arrays.size();
  NamedArray table{xt::xarray<double>::from_shape({rows, width}), {}};
  for (std::size_t column = 0; column < width; ++column) {
    table.columns.push_back(arrays[column].first);
    for (std::size_t row = 0; row < rows; ++row)
      table.values.data()[row * width + column] = arrays[column].second.data()[row];
  }
  return table;
}

void fill_in(NamedArray& table, std::size_t column, bool mean) {
  auto values = xt::view(table.values, xt::all(), column);
  if (mean ? !fill_with_mean(table, column) : std::isnan(values(0)))
    throw DataError("column ", column_name(table, column), " has no ",
                    mean ? "values, so it has no mean" : "first value that can be carried forward");
  for (std::size_t row = 1; row < values.size(); ++row)
    if (std::isnan(values(row))) values(row) = values(row - 1);
}

void fill_in_chosen(NamedArray& table, const CsvOptions& options) {
  const bool by_name = !table.columns.empty() && !options.named_columns.empty();
  const auto& chosen = by_name ? options.named_columns : options.columns;
  for (const std::string& column : chosen)
    fill_in(table, require_column(table, column), options.missing == "mean");
  for (std::size_t i = 0; chosen.empty() && i < table.values.shape(1); ++i)
    if (i != table.time) fill_in(table, i, options.missing == "mean");
}

NamedArray parse_npz(ByteSpan file, const std::string& name, const std::string& wanted) {
  const Npz npz(file, name);
  if (!wanted.empty()) return {npz.values(wanted), {}};
  if (npz.names().size() == 1) return {npz.values(npz.names()[0]), {}};
  NamedArrays arrays;
  std::string there;
  for (const std::string& array : npz.names()) {
    arrays.emplace_back(array, npz.values(array));
    const auto& shape = arrays.back().second.shape();
    there += (there.empty() ? "" : ", ") + excerpt(array) + " " +
             shape_text({shape.begin(), shape.end()});
  }
  if (is_table(arrays)) return table_of(arrays);
  throw DataError(name, ": holds ", there.empty() ? "no arrays" : there + "; choose one array");
}

}  // namespace

NamedArray with_table_options(NamedArray table, const std::string& name,
                              const CsvOptions& options) {
  if (table.values.dimension() != 2 || table.values.size() == 0) return table;
  try {
    if (!options.time.empty()) table.time = require_column(table, options.time);
    mark_numeric_time(table);
    if (options.missing == "forward" || options.missing == "mean") fill_in_chosen(table, options);
  } catch (const DataError& error) {
    throw DataError(name, ": ", error.what());
  }
  return table;
}

Input open_input(const std::filesystem::path& path) { return Input(path, demanded_size); }

std::string file_kind(ByteSpan file) {
  if (begins(file, npy_magic)) return "npy";
  if (begins(file, "PK\x03\x04") || begins(file, "PK\x05\x06") || begins(file, "PK\x06\x06"))
    return "npz";
  if (is_idx(file)) return "idx";
  if (cifar_record(file) > 0) return "cifar";
  if (is_sound(file)) return "sound";
  return series_format(text_of(file)).empty() ? "csv" : "series";
}

NamedArray parse_array(ByteSpan file, const std::string& name, const ReadOptions& options) {
  const std::string_view text = text_of(file);
  const std::string kind = file_kind(file);
  if (options.series)
    return table_of_series(parse_labelled_series(file, name, options), options.series->columns);
  if (kind == "series") return table_of_series(parse_series(text, name));
  if (kind == "sound") return table_of_series(parse_sound(file, name));
  refuse_foreign(name, text);
  if (kind == "npy")
    return with_table_options({parse_npy(file, name).values(), {}}, name, options.csv);
  if (kind == "npz")
    return with_table_options(parse_npz(file, name, options.array), name, options.csv);
  if (kind == "idx") return {parse_idx(file, name).values(), {}};
  if (kind == "cifar") return parse_cifar(file, name);
  return parse_csv(text, name, options.csv);
}

NamedArray read_array(const std::filesystem::path& path, const ReadOptions& options) {
  if (options.series)
    return table_of_series(read_labelled_series(path, options), options.series->columns);
  const Input input = open_input(path);
  return parse_array(input.bytes(), input.name(), options);
}

}  // namespace bochner

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {

void for_each_table(
    const Config& config,
    const std::function<void(const std::filesystem::path& file, NamedArray& table)>& take) {
  for (const auto& file :
       expand_files(config.text_list("data.files"), std::filesystem::current_path())) {
    NamedArray table = read_array(file, table_options(config));
    try {
      take(file, table);
    } catch (const DataError& error) {
      throw DataError(file.string() + ": " + error.what());
    }
  }
}

CsvOptions only_columns(const Config& config, const std::string& time,
                        const std::vector<std::string>& columns) {
  CsvOptions csv;
  csv.delimiter = config.text("data.delimiter");
  csv.decimal = config.text("data.decimal");
  csv.quote = config.text("data.quote");
  csv.time_format = config.text("data.time_format");
  if (!csv.time_format.empty()) csv.time = time;
  for (const std::string& column : columns)
    if (!column.empty()) csv.columns.push_back(column);
  if (std::any_of(csv.columns.begin(), csv.columns.end(), parse_count)) csv.columns.clear();
  csv.if_missing = "fill it in, or remove its row";
  return csv;
}

}  // namespace bochner

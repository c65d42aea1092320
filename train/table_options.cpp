#include <bochner/train/table_options.hpp>

namespace bochner::inline BOCHNER_PRECISION {

ReadOptions table_options(const Config& config) {
  CsvOptions csv;
  csv.columns = config.text_list("data.columns");
  csv.time = config.text("data.time_column");
  csv.time_format = config.text("data.time_format");
  csv.missing = config.text("data.missing");
  if (!csv.columns.empty() && !csv.time.empty()) csv.columns.push_back(csv.time);
  return {csv, ""};
}

}  // namespace bochner::inline BOCHNER_PRECISION

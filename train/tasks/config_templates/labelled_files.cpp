#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/file_endings.hpp>
#include <bochner/data/formats/read_series.hpp>
#include <bochner/data/formats/sound_files.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/tasks/config_templates/labelled_series.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <cstring>
#include <fstream>
#include <set>

namespace bochner {
namespace {

namespace fs = std::filesystem;

constexpr const char* numbers_line = "labels = \"numbers\"            # to predict, not classes\n";

bool is_sound_file(const fs::path& file) {
  Bytes front(16);
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(front.data()), std::streamsize(front.size()));
  return is_sound(ByteSpan(front).first(std::size_t(in.gcount())));
}

/// Returns whether files are named like tables, and the first has series of numbers without dates,
/// which would be rows to forecast.
bool are_tables_of_series(const std::vector<fs::path>& files) try {
  for (const fs::path& file : files)
    if (ending_of(file) != ".csv" && ending_of(file) != ".tsv") return false;
  ReadOptions options;
  options.csv.missing = "nan";
  options.series = {.label_from = "folder"};
  return read_labelled_series(files[0], options).series[0].times.empty();
} catch (const DataError&) {
  return false;
}

/// Returns where the labels of files below a folder are, "" if nowhere: there are two or more, and
/// two files of each on average. `has_subfolders`: for all files. Names of tables that begin with
/// numbers may be dates.
std::string labels_below(const std::vector<fs::path>& files, bool has_subfolders, bool are_sounds) {
  const std::string from = has_subfolders ? "folder" : "name";
  std::set<std::string> labels;
  for (const fs::path& file : files) labels.insert(label_of_path(file, from));
  const bool may_be_dates =
      !are_sounds && !has_subfolders && std::ranges::any_of(labels, [](const std::string& label) {
        return parse_number(label).has_value();
      });
  const bool are_some = labels.size() >= 2 && files.size() >= 2 * labels.size();
  return are_some && !labels.contains("") && !may_be_dates ? from : "";
}

/// Returns a pattern for the files in a folder, or in its subfolders.
fs::path pattern_in(const fs::path& folder, const std::string& label_from,
                    const std::string& ending) {
  const fs::path inside = label_from == "folder" ? folder / "*" : folder;
  return inside / ("*" + ending);
}

/// Returns the ending that all files have, or "".
std::string common_ending(const std::vector<fs::path>& files) {
  const std::string ending = files[0].extension().string();
  const bool all = std::ranges::all_of(
      files, [&](const fs::path& file) { return file.extension().string() == ending; });
  return all ? ending : "";
}

}  // namespace

std::optional<fs::path> test_file_of(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const auto& [train, test] : {std::pair("_TRAIN", "_TEST"), {"_train", "_test"}}) {
    const std::size_t at = name.rfind(train);
    if (at == name.npos) continue;
    const std::string rest = name.substr(at + std::strlen(train));
    if (!rest.empty() && rest[0] != '.') continue;
    const fs::path other = file.parent_path() / (name.substr(0, at) + test + rest);
    if (fs::exists(other)) return other;
  }
  return std::nullopt;
}

std::string labelled_series_config(const std::string& files, const std::optional<fs::path>& test,
                                   const std::string& keys) {
  return fill_in(
      "filter_bank",
      {{"files", files},
       {"columns", (test ? "test_files = [" + in_quotes(test->string()) + "]\n" : "") + keys}});
}

std::string series_file_config(const std::string& files, const fs::path& file,
                               const TemplateRequest& request) {
  require_used(request, "filter_bank", file.string());
  const Input input = open_input(file);
  const RealSeriesSet set =
      parse_labelled_series(input.bytes(), input.name(), {.series = SeriesOptions()});
  return labelled_series_config(files, test_file_of(file), set.numbers ? numbers_line : "");
}

std::optional<std::string> labelled_folder_config(const fs::path& folder,
                                                  const std::vector<fs::path>& all,
                                                  const TemplateRequest& request) {
  if (!request.allows("filter_bank") && !request.allows("classifier")) return std::nullopt;
  std::vector<fs::path> files;
  const fs::path root = fs::absolute(folder / "").lexically_normal();
  const auto depth = [&](const fs::path& file) {
    const fs::path below = fs::absolute(file).lexically_normal().lexically_relative(root);
    return std::distance(below.begin(), below.end());
  };
  for (const fs::path& file : all)
    if (!lower_case(file.filename().string()).starts_with("readme")) files.push_back(file);
  if (files.empty()) return std::nullopt;
  const auto has_depth = [&](auto n) {
    return std::ranges::all_of(files, [&](const fs::path& file) { return depth(file) == n; });
  };
  const bool are_sounds = is_sound_file(files[0]), in_subfolders = has_depth(2);
  if (!are_sounds && !are_tables_of_series(files)) return std::nullopt;
  const std::string from =
      in_subfolders || has_depth(1) ? labels_below(files, in_subfolders, are_sounds) : "";
  if (from.empty() && are_sounds)
    throw DataError(folder.string(),
                    ": recordings need labels: a subfolder for each class, or names that begin "
                    "with the class, such as yes_1.wav; two or more of each class");
  if (from.empty()) return std::nullopt;
  require_used(request, "filter_bank", folder.string());
  const std::string ending = common_ending(files);
  const auto test = test_file_of(folder.has_filename() ? folder : folder.parent_path());
  return labelled_series_config(
      in_quotes(pattern_in(folder, from, ending).string()),
      test ? std::optional(pattern_in(*test, from, ending)) : std::nullopt,
      "label_from = " + in_quotes(from) + "           # " +
          (from == "folder" ? "a subfolder is a class\n" : "the class is before the first _\n"));
}

}  // namespace bochner

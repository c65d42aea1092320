#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/formats/date_formats.hpp>
#include <bochner/data/formats/file_endings.hpp>
#include <bochner/data/formats/read_series.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/config_templates/config_template.hpp>
#include <bochner/train/tasks/config_templates/labelled_series.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <fstream>
#include <regex>
#include <set>

namespace bochner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t sniffed_bytes = 1 << 16;

/// Returns the first `bytes` bytes of a file.
std::string front_of(const fs::path& file, std::size_t bytes = sniffed_bytes) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw IoError("cannot open ", file.string(), "; check its permissions");
  std::string text(bytes, '\0');
  in.read(text.data(), std::streamsize(bytes));
  text.resize(std::size_t(in.gcount()));
  return text;
}

std::string lm_config(const std::string& files, std::uint64_t bytes) {
  constexpr std::size_t batch = 16, longest = 128;
  const std::size_t length = std::clamp<std::size_t>(bytes / 16, 1, longest);
  return fill_in("lm", with_steps({{"files", files}, {"length", std::to_string(length)}},
                                  bytes / (batch * length)));
}

/// Returns a config of a classifier; labels are in other files of the folder.
std::string image_config(const std::string& files) {
  return fill_in(
      "classifier",
      {{"what", "images read as sequences of pixels"}, {"data", "images"}, {"files", files}});
}

bool is_text(const fs::path& file) {
  const std::string front = front_of(file);
  return front.find('\0') == front.npos && !front.starts_with("\x1f\x8b");
}

/// Returns whether a text without the name of a table has rows of equally many fields, most of them
/// values.
bool has_rows_of_values(std::string_view text) try {
  constexpr std::size_t fewest = 8;
  const CsvDialect dialect = csv_dialect(text, "", {});
  const CsvSample sample = csv_sample(text, "", dialect.delimiter, dialect.quote);
  std::size_t fields = 0, values = 0;
  for (std::size_t i = 1; i < sample.size(); ++i) {
    if (sample[i].size() != sample[0].size()) return false;
    fields += sample[i].size();
    values += std::size_t(std::ranges::count_if(sample[i], [&](const std::string& field) {
      return is_csv_value(field, dialect) || !possible_time_formats(field).empty();
    }));
  }
  return sample.size() > fewest && sample[0].size() > 1 && 10 * values >= 6 * fields;
} catch (const DataError&) {
  return false;
}

bool is_table(const fs::path& file, std::string_view text) {
  const std::string ending = ending_of(file);
  if (ending == ".csv" || ending == ".tsv" || ending == ".tab" || ending == ".psv") return true;
  return (ending == ".txt" || ending == ".dat" || ending == ".data") && has_rows_of_values(text);
}

/// Returns whether the config of a requested kind is the same for all data.
bool needs_no_columns(const std::string& kind) {
  return kind == "text" || kind == "field" || kind == "vae" || kind == "contrastive";
}

/// Returns a config for a file. `files`: data.files of the config, this file or a pattern.
std::string config_of_file(const std::string& files, const fs::path& file, std::uint64_t bytes,
                           const CsvOptions& options, const TemplateRequest& request) {
  const std::string name = file.string();
  const Input input = open_input(file);
  const std::string kind = file_kind(input.bytes());
  const bool is_series =
      kind == "series" || (kind == "npz" && holds_labelled_series(input.bytes(), input.name()));
  if (is_series && request.kind != "text") return series_file_config(files, file, request);
  if (kind == "sound" && request.kind != "text")
    throw DataError(name, ": is one recording; classes are learned from a folder of recordings");
  if (needs_no_columns(request.kind)) {
    require_used(request, request.kind, name);
    return request.kind == "text" ? lm_config(files, bytes)
                                  : fill_in(request.kind, {{"files", files}});
  }
  if (kind == "idx" || kind == "cifar") {
    require_used(request, "classifier", name);
    return image_config(files);
  }
  if (kind == "npy" || kind == "npz") {
    const NamedArray array = parse_array(input.bytes(), name);
    if (array.values.dimension() > 2)
      throw DataError(name, ": an array of ", array.values.dimension(),
                      " axes has no unique use; for films start with: bochner init field");
    if (array.values.dimension() == 0) throw DataError(name, ": is one number, not a series");
    return rows_config(files, file, array.values.shape()[0], request);
  }
  const bool has_rows = !request.options().empty() || is_table(file, input.text());
  if (has_rows)
    if (auto config = labelled_table_config(files, file, input, options, request)) return *config;
  if (has_rows) return table_config(files, file, options, request);
  if (front_of(file).empty()) throw DataError(name, ": is empty");
  if (!is_text(file))
    throw DataError(name,
                    ": is neither text nor a table (.csv, .tsv), NPY, NPZ, IDX or CIFAR file; "
                    "unpack or convert it");
  return lm_config(files, bytes);
}

/// Returns whether the first line that is not empty or a comment belongs to a config.
bool begins_as_config(std::string_view text) {
  static const std::regex config(
      R"(\s*(\[\s*(model|data|optim|train)[\w.]*\s*\]|(model|data|optim|train)(\.\w+)+\s*=).*)");
  while (!text.empty()) {
    const std::string line(take_line(text).substr(0, 200));
    if (!trimmed(line).empty() && !trimmed(line).starts_with('#'))
      return std::regex_match(line, config);
  }
  return false;
}

/// Returns whether a file describes the data: README.txt, LICENSE.
bool is_about_the_data(const fs::path& file) {
  const std::string name = lower_case(file.filename().string());
  return name.starts_with("readme") || name.starts_with("license");
}

/// Returns whether files, except READMEs, lie in at least two subfolders, four per subfolder on
/// average.
bool are_labelled(const fs::path& folder, const std::vector<fs::path>& files) {
  std::set<fs::path> labels;
  for (const fs::path& file : files) {
    const fs::path below =
        fs::absolute(file).lexically_relative(fs::absolute(folder).lexically_normal());
    const auto depth = std::distance(below.begin(), below.end());
    if (depth == 1 && is_about_the_data(file)) continue;
    if (depth != 2) return false;
    labels.insert(*below.begin());
  }
  return labels.size() >= 2 && files.size() >= 4 * labels.size();
}

/// Returns a config for all files below a folder as one pattern; the first file decides its kind.
std::string config_of_folder(const fs::path& folder, const CsvOptions& options,
                             const TemplateRequest& request) {
  const std::string pattern = (folder / "**").string();
  const std::vector<fs::path> files = expand_files({pattern}, fs::current_path());
  if (auto config = labelled_folder_config(folder, files, request)) return *config;
  std::uint64_t bytes = 0;
  for (const fs::path& file : files) bytes += fs::file_size(file);
  if (request.allows("classifier") && are_labelled(folder, files) && is_text(files[0])) {
    require_used(request, "classifier", folder.string());
    return fill_in("bag_of_words", {{"files", in_quotes((folder / "*" / "*").string())}});
  }
  return config_of_file(in_quotes(pattern), files[0], bytes, options, request);
}

Blanks usual_blanks() {
  return {{"what", "texts: a folder of files for each label"},
          {"data", "texts"},
          {"columns", ""},
          {"positions", "learned"},
          {"weight_decay", "0.1"},
          {"dropout", "0.1"},
          {"method", in_quotes("exact")},
          {"backbone", "\"linear\"           # or attention (over patches), rows (at their times)"},
          {"length", "128"},
          {"seasons", ""},
          {"lookback", "96"},
          {"horizon", "24"},
          {"rows", "0"}};
}

/// Returns the optimizer and the training of a template, with blanks.
std::string training_text(const ConfigTemplate::Training& training) {
  return std::string("\n[optim]\n") + training.optimizer + "lr = {lr}\n" + training.decay +
         "schedule.kind = \"cosine\"\nschedule.warmup = {warmup}\n" + training.clip +
         "\n[train]\nbatch = {batch}\nsteps = {steps}\nvalidate.every = {validate}\n" +
         training.more;
}

}  // namespace

std::vector<std::string> config_template_kinds() {
  std::vector<std::string> kinds;
  for (const ConfigTemplate& each : config_templates) kinds.push_back(each.kind);
  return kinds;
}

std::string config_template(const std::string& kind) {
  return fill_in(kind, {{"columns", kind == "classifier" ? text_length : ""}});
}

bool is_data(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return true;
  if (!fs::is_regular_file(path, error) || lower_case(path.extension().string()) == ".toml")
    return false;
  return !begins_as_config(front_of(path));
}

std::string config_template_for(const fs::path& data, const CsvOptions& options,
                                const TemplateRequest& asked) {
  const TemplateRequest request = checked(asked);
  std::error_code error;
  if (fs::is_directory(data, error)) return config_of_folder(data, options, request);
  const std::uint64_t bytes = fs::file_size(data, error);
  if (error) throw IoError(data.string(), ": ", error.message(), "; give a file or a folder");
  if (request.kind != "text") refuse_foreign(data, open_input(data).text());
  return config_of_file(in_quotes(data.string()), data, bytes, options, request);
}

std::string fill_in(const std::string& kind, const Blanks& blanks) {
  const auto* found = std::ranges::find(config_templates, kind, &ConfigTemplate::kind);
  if (found == std::end(config_templates))
    throw std::invalid_argument(kind + ": no such kind; choose " +
                                alternatives(config_template_kinds()));
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  Blanks all = usual_blanks();
  const ConfigTemplate::Training& training = found->training;
  all.insert({{"files", found->files},
              {"lr", training.lr},
              {"batch", training.batch},
              {"warmup", training.warmup},
              {"steps", training.steps},
              {"validate", training.validate}});
  for (const auto& [name, text] : blanks) all[name] = text;
  for (const auto& [name, text] : all) arguments.push_back(fmt::arg(name.c_str(), text));
  return fmt::vformat(found->text + (*training.lr ? training_text(training) : ""), arguments);
}

Blanks with_steps(Blanks blanks, std::size_t steps_of_epoch) {
  const std::size_t steps = std::clamp<std::size_t>(10 * steps_of_epoch, 100, 1000);
  blanks["steps"] = std::to_string(steps);
  blanks["warmup"] = std::to_string(steps / 50);
  blanks["validate"] = std::to_string(steps / 4);
  return blanks;
}

std::string quoted_list(const std::vector<std::string>& names) {
  return "[" + joined(names, ", ", in_quotes) + "]";
}

}  // namespace bochner

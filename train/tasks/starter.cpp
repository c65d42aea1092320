#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/joined.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/files/text.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/tasks/starter.hpp>
#include <bochner/train/tasks/starter_columns.hpp>
#include <bochner/train/tasks/starter_gaps.hpp>
#include <bochner/train/tasks/starter_series.hpp>
#include <bochner/train/tasks/starter_templates.hpp>
#include <bochner/train/tasks/table_sketch.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <set>

namespace bochner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t sniffed_bytes = 1 << 16;

constexpr const char* text_length =
    "length = 256                  # bytes of a text that the model sees\n";

/// What a template is filled with, as TOML.
using Blanks = std::map<std::string, std::string>;

Blanks usual_blanks() {
  return {
      {"what", "texts: a folder of files for each label"},
      {"data", "texts"},
      {"files", ""},
      {"columns", ""},
      {"positions", "learned"},
      {"lr", "3e-3"},
      {"weight_decay", "0.1"},
      {"method", in_quotes("exact")},
      {"backbone", "\"linear\"           # or attention, over patches; or rows, at their times"},
      {"length", "128"},
      {"lookback", "96"},
      {"horizon", "24"},
      {"rows", "0"},
      {"batch", "32"},
      {"warmup", "20"},
      {"steps", "1000"},
      {"validate", "250"}};
}

const char* usual_files(const std::string& kind) {
  return kind == "lm"            ? R"("texts/**/*.txt")"
         : kind == "classifier"  ? R"("texts/*/*")"
         : kind == "field"       ? R"("film.npy")"
         : kind == "vae"         ? R"("digits/*")"
         : kind == "contrastive" ? R"("images/*")"
                                 : R"("table.csv")";
}

std::string fill_in(const std::string& kind, const Blanks& blanks) {
  const auto* found = std::ranges::find(starter_templates, kind, &StarterTemplate::kind);
  if (found == std::end(starter_templates))
    throw std::invalid_argument(kind + ": no such kind to begin with; there are " +
                                alternatives(starter_kinds()));
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  Blanks all = usual_blanks();
  for (const auto& [name, text] : blanks) all[name] = text;
  for (const auto& [name, text] : all) arguments.push_back(fmt::arg(name.c_str(), text));
  return fmt::vformat(found->text, arguments);
}

/// So many steps for so many of an epoch: ten epochs, within limits.
Blanks with_steps(Blanks blanks, std::size_t steps_of_epoch) {
  const std::size_t steps = std::clamp<std::size_t>(10 * steps_of_epoch, 100, 1000);
  blanks["steps"] = std::to_string(steps);
  blanks["warmup"] = std::to_string(steps / 50);
  blanks["validate"] = std::to_string(steps / 4);
  return blanks;
}

/// The text of a file or the front of it.
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

std::string quoted_list(const std::vector<std::string>& names) {
  return "[" + joined(names, ", ", in_quotes) + "]";
}

std::string quoted_list(const TableSketch& table, const std::vector<std::size_t>& columns) {
  std::vector<std::string> names;
  for (const std::size_t i : columns) names.push_back(table.names[i]);
  return quoted_list(names);
}

/// By texts, or by whole numbers, told apart; something else must be left to forecast.
SeriesLayout series_layout(const fs::path& file, const TableSketch& table) {
  if (table.times.empty() || table.numbers.empty()) return {};
  std::vector<std::string> candidates;
  for (const auto* columns : {&table.words, &table.whole_numbers})
    for (const std::size_t i : *columns) candidates.push_back(table.names[i]);
  const SeriesLayout layout =
      layout_of_series(file, table.names[table.times[0]], candidates, table.options);
  const bool leaves_some = std::ranges::any_of(table.numbers, [&](std::size_t i) {
    return std::ranges::count(layout.columns, table.names[i]) == 0;
  });
  return leaves_some ? layout : SeriesLayout();
}

/// A model of rows at their times, in place of one of the rows' numbers.
void see_times(Blanks& blanks) {
  blanks["backbone"] =
      "\"rows\"             # rows are tokens at their times, which are irregular\n"
      "blocks = 2\nwidth = 32\nexpansion = 2\npositions = \"none\"\n"
      "mixer = { kind = \"softmax\", heads = 2 }\n"
      "time = { kind = \"free\", use = \"rotate\", shortest = 1.5, longest = 192 }  # in median "
      "gaps";
  blanks["columns"] += "stamps = true                 # the model sees when rows are\n";
  blanks["batch"] = "8";
}

std::string series_config(const std::string& files, const fs::path& file,
                          const TableSketch& table) {
  constexpr std::size_t longest = 24;
  const SeriesLayout layout = series_layout(file, table);
  const std::size_t rows = table.rows / layout.count;
  const std::size_t horizon = std::clamp<std::size_t>(rows / 20, 1, longest);
  const std::size_t lookback = 4 * horizon, windows = table.rows * 7 / 10;
  const std::size_t batch = std::clamp<std::size_t>(windows / 16, 1, 64);
  std::vector<std::size_t> targets = table.numbers, words = table.words;
  for (auto* some : {&targets, &words})
    std::erase_if(*some, [&](std::size_t i) {
      return std::ranges::count(layout.columns, table.names[i]) > 0;
    });
  std::string columns;
  if (!layout.columns.empty())
    columns = "series = " + quoted_list(layout.columns) + "            # what tells " +
              std::to_string(layout.count) + " series apart\n";
  const std::string& clock = table.options.time;
  const bool one_time = table.times.size() <= 1;
  if (!one_time || !table.words.empty() || !table.empty.empty() || !layout.columns.empty() ||
      !clock.empty())
    columns +=
        "columns = " + quoted_list(table, targets) + "\n" +
        (table.times.empty() ? ""
                             : "time_column = " + in_quotes(table.names[table.times[0]]) + "\n");
  if (!clock.empty()) columns += "time_format = " + in_quotes(table.options.time_format) + "\n";
  if (!words.empty())
    columns += "# known = " + quoted_list(table, words) + "   # if known of rows to come, too\n";
  const std::vector<double> times =
      table.times.empty()
          ? std::vector<double>()
          : times_of(file, table.names[table.times[0]], layout.columns, table.options);
  Blanks blanks = {{"files", files},
                   {"columns", columns},
                   {"horizon", std::to_string(horizon)},
                   {"lookback", std::to_string(lookback)},
                   {"batch", std::to_string(batch)}};
  if (layout.columns.empty() && are_irregular(times))
    see_times(blanks);
  else if (const std::size_t pause = pause_for(times, lookback, horizon, {.7, .1, .2}); pause != 1)
    blanks["columns"] +=
        fmt::format("pause = {:<22}# steps to the next row at most: the dates have gaps\n", pause);
  return fill_in("forecaster", with_steps(blanks, windows / batch));
}

std::string event_config(const std::string& files, const TableSketch& table, std::size_t time,
                         std::size_t type) {
  constexpr std::size_t batch = 16, longest = 64;
  const std::size_t length = std::clamp<std::size_t>(table.rows / 20, 1, longest);
  std::string columns = "time_column = " + in_quotes(table.names[time]) +
                        "\ntype_column = " + in_quotes(table.names[type]) + "\n";
  if (const auto sequence = sequence_column(table, time, type))
    columns += "sequence_column = " + in_quotes(table.names[*sequence]) + "\n";
  return fill_in(
      "events",
      with_steps({{"files", files}, {"columns", columns}, {"length", std::to_string(length)}},
                 4 * table.rows / (batch * length)));
}

std::string regression_config(const std::string& files, const TableSketch& table) {
  constexpr std::size_t quick_rows = 512, most_exact = 5000;
  std::vector<std::size_t> inputs = table.numbers;
  const std::size_t target = inputs.back();
  inputs.pop_back();
  std::string columns = "inputs = " + quoted_list(table, inputs) +
                        "\ntarget = " + in_quotes(table.names[target]) + "\n";
  if (!table.words.empty())
    columns += "# no numbers, and left out: " + quoted_list(table, table.words) + "\n";
  return fill_in("gp", {{"files", files},
                        {"columns", columns},
                        {"method", in_quotes(table.rows > most_exact ? "features" : "exact")},
                        {"rows", table.rows > 2 * quick_rows ? std::to_string(quick_rows) : "0"}});
}

/// `columns` of a table; "" for files in folders that are called like their labels.
std::string text_config(const std::string& files, const std::string& columns, std::size_t texts) {
  constexpr std::size_t batch = 16;
  return fill_in("classifier", with_steps({{"files", files},
                                           {"columns", columns + text_length},
                                           {"positions", "none"},
                                           {"lr", "1e-3"},
                                           {"weight_decay", "0.3"}},
                                          texts / batch));
}

/// Those of a label and of a text, if there are such.
std::optional<std::string> text_columns(const TableSketch& table) {
  for (const char* label : {"label", "class", "category", "sentiment", "topic"})
    for (const char* text : {"text", "review", "message", "sentence", "comment"}) {
      const auto of_label = table.called(label), of_text = table.called(text);
      if (!of_label || !of_text) continue;
      return "text_column = " + in_quotes(table.names[*of_text]) +
             "\nlabel_column = " + in_quotes(table.names[*of_label]) + "\n";
    }
  return std::nullopt;
}

/// The same table with numbers that go on from row to row and are called a time as its times.
std::optional<TableSketch> with_clock(const fs::path& file, const TableSketch& table) {
  for (const char* name : {"time", "timestamp", "date", "datetime", "ds"}) {
    const auto column = table.called(name);
    if (!column || std::ranges::count(table.numbers, *column) == 0) continue;
    const auto format = format_of_clock(file, table.names[*column], table.options);
    if (!format) continue;
    TableSketch series = table;
    std::erase(series.numbers, *column);
    std::erase(series.whole_numbers, *column);
    series.times = {*column};
    series.options.time = table.names[*column];
    series.options.time_format = *format;
    return series;
  }
  return std::nullopt;
}

std::string table_config(const std::string& files, const fs::path& file,
                         const CsvOptions& options) {
  const Input input = open_input(file);
  const TableSketch table = sketch_of(input.text(), input.name(), options);
  if (const auto columns = text_columns(table)) return text_config(files, *columns, table.rows);
  if (!table.unread.empty()) throw DataError(table.unread);
  if (!series_layout(file, table).columns.empty()) return series_config(files, file, table);
  if (const auto time = time_column(table))
    if (const auto type = type_column(table, *time))
      return event_config(files, table, *time, *type);
  if (table.numbers.empty())
    throw DataError(input.name(),
                    ": has no column of numbers to learn; name its columns in a "
                    "config: bochner init events, or bochner init forecaster");
  if (!table.times.empty() || !table.has_header || table.numbers.size() == 1)
    return series_config(files, file, table);
  if (const auto series = with_clock(file, table)) return series_config(files, file, *series);
  return regression_config(files, table);
}

/// Images come with their labels in other files of the folder.
std::string image_config(const std::string& files) {
  return fill_in(
      "classifier",
      {{"what", "images read as sequences of pixels"}, {"data", "images"}, {"files", files}});
}

bool is_text(const fs::path& file) {
  const std::string front = front_of(file);
  return front.find('\0') == front.npos && !front.starts_with("\x1f\x8b");
}

bool is_table(const fs::path& file) {
  fs::path name = file.filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.extension() == ".csv" || name.extension() == ".tsv";
}

/// `files` is what the config says of one file or of all that are like it.
std::string config_of_file(const std::string& files, const fs::path& file, std::uint64_t bytes,
                           const CsvOptions& options) {
  const std::string name = file.string();
  const Input input = open_input(file);
  const std::string kind = file_kind(input.bytes());
  if (kind == "idx" || kind == "cifar") return image_config(files);
  if (kind == "npy" || kind == "npz") {
    const NamedArray array = parse_array(input.bytes(), name);
    if (array.values.dimension() > 2)
      throw DataError(name, ": an array of ", array.values.dimension(),
                      " axes may be a film or other things; begin with: bochner init field");
    if (array.values.dimension() == 0) throw DataError(name, ": is one number, and no series");
    TableSketch table;
    table.rows = array.values.shape()[0];
    return series_config(files, file, table);
  }
  if (is_table(file)) return table_config(files, file, options);
  if (front_of(file).empty()) throw DataError(name, ": is empty");
  if (!is_text(file))
    throw DataError(name,
                    ": is neither text nor a table (.csv, .tsv), NPY, NPZ, IDX or CIFAR file; "
                    "unpack or convert it");
  return lm_config(files, bytes);
}

/// Whether the first line that says something is one of a config.
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

/// README.txt, LICENSE
bool is_about_the_data(const fs::path& file) {
  const std::string name = lower_case(file.filename().string());
  return name.starts_with("readme") || name.starts_with("license");
}

/// Whether all files lie in folders of the folder, several in each of two or more; but for words
/// about them beside these.
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

/// All files below a folder as one pattern; the first of them tells the kind.
std::string config_of_folder(const fs::path& folder, const CsvOptions& options) {
  const std::string pattern = (folder / "**").string();
  const std::vector<fs::path> files = expand_files({pattern}, fs::current_path());
  std::uint64_t bytes = 0;
  for (const fs::path& file : files) bytes += fs::file_size(file);
  if (are_labelled(folder, files) && is_text(files[0]))
    return text_config(in_quotes((folder / "*" / "*").string()), "", files.size());
  return config_of_file(in_quotes(pattern), files[0], bytes, options);
}

}  // namespace

std::vector<std::string> starter_kinds() {
  std::vector<std::string> kinds;
  for (const StarterTemplate& each : starter_templates) kinds.push_back(each.kind);
  return kinds;
}

std::string starter_config(const std::string& kind) {
  return fill_in(
      kind, {{"files", usual_files(kind)}, {"columns", kind == "classifier" ? text_length : ""}});
}

bool is_data(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return true;
  if (!fs::is_regular_file(path, error) || path.extension() == ".toml") return false;
  return !begins_as_config(front_of(path));
}

std::string starter_config_for(const fs::path& data, const CsvOptions& options) {
  std::error_code error;
  if (fs::is_directory(data, error)) return config_of_folder(data, options);
  const std::uint64_t bytes = fs::file_size(data, error);
  if (error) throw IoError(data.string(), ": ", error.message(), "; give a file or a folder");
  return config_of_file(in_quotes(data.string()), data, bytes, options);
}

}  // namespace bochner

#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/file_endings.hpp>
#include <bochner/data/formats/read_series.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/time_step.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/data/text/tokenizer.hpp>
#include <bochner/train/commands/data/check.hpp>
#include <bochner/train/commands/data/table_options.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/trainer.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/arrays.hpp>

namespace bochner {
namespace {

struct BatchOptions : ModelOptions {
  std::optional<std::size_t> step;
  std::string output;
  bool gradients = false, json = false;
};

/// Returns the first example of a step, counted forward or back from the checkpoint. A fork may
/// have used other batches before.
std::uint64_t first_example(const TrainerState& state, const TrainSpec& train, std::uint64_t step) {
  const std::uint64_t each = train.examples_per_step();
  if (train.overfit) return 0;
  if (step >= state.step) return state.examples + (step - state.step) * each;
  return state.examples - std::min(state.examples, (state.step - step) * each);
}

void print_numbers(const Examples& examples, std::uint64_t step, bool json) {
  if (!json) fmt::print("step {}\n{:>12} {:>8}\n", step, "example", "epoch");
  for (const auto& [index, epoch] : examples.numbers) {
    if (json)
      print_line({{"step", step}, {"example", index}, {"epoch", epoch}});
    else
      fmt::print("{:>12} {:>8}\n", index, epoch);
  }
}

/// Returns the loss in evaluation mode, with the weights of the checkpoint.
double loss_of(Task& task, const Examples& examples) {
  Tape tape({.recording = false});
  return double(task.loss(tape, examples).value().data()[0]);
}

/// Adds the loss and its gradients as training computes them, with dropout and new draws, but with
/// the weights of the checkpoint.
void add_gradients(NamedArrays& arrays, const Config& config, Task& task, std::uint64_t step,
                   std::uint64_t first) {
  Trainer trainer(config, task, step + 1);
  trainer.state().step = step;
  trainer.state().examples = first;
  arrays.emplace_back("training_loss", xt::xarray<double>(trainer.differentiate()));
  for (const NamedParameter& named : parameters_of(task.model()))
    if (named.parameter->has_gradient())
      arrays.emplace_back("gradients/" + named.name, array_of(named.parameter->gradient()));
}

void data_batch_command(const BatchOptions& options) {
  demand(!options.gradients || !options.output.empty(),
         "data batch --gradients requires --output FILE.npz");
  demand(options.output.empty() || ends_in(options.output, ".npz"),
         "data batch --output {}: holds several arrays, so its name must end in .npz",
         options.output);
  const auto [checkpoint, config, task] = load_task(options);
  const TrainerState& state = checkpoint.state();
  const auto train = read_spec<TrainSpec>(config, "train");
  const std::uint64_t step = options.step.value_or(state.step),
                      first = first_example(state, train, step);
  const Examples examples = task->data().training(first, train.examples_per_step());
  print_numbers(examples, step, options.json);
  const double loss = loss_of(*task, examples);
  if (options.json)
    print_line({{"step", step}, {"loss", loss}});
  else
    fmt::print("loss {:.7g} {}\n", loss, task->learner().loss_unit());
  if (options.output.empty()) return;
  NamedArrays arrays = task->arrays(examples);
  arrays.emplace_back("loss", xt::xarray<double>(loss));
  if (options.gradients) add_gradients(arrays, config, *task, step, first);
  write_output(options.output, [&](const Sink& sink) { write_npz(arrays, sink); });
}

constexpr std::size_t fewest_pieces = 257;  // 256 bytes and the unknown piece

struct TokenizerOptions {
  std::vector<std::string> files;
  std::string output;
  TokenizerTraining training;
};

void data_tokenizer_command(const TokenizerOptions& options) {
  const TokenizerTraining& training = options.training;
  demand(training.model == "unigram" || training.model == "bpe",
         "--model {}: must be unigram or bpe", training.model);
  demand(training.vocabulary > fewest_pieces && training.vocabulary <= 1 << 20,
         "--vocabulary {}: must be between {} and {}; each byte is a piece", training.vocabulary,
         fewest_pieces + 1, 1 << 20);
  demand(training.bytes > 0, "--bytes 0: must be at least 1");
  require_folder(options.output);
  const ByteCorpus text(expand_files(options.files, std::filesystem::current_path()));
  const std::string model = train_tokenizer(text, training);
  write_output(options.output, [&](const Sink& sink) { sink(model); });
  if (options.output == "-") return;
  const auto made = make_piece_tokenizer(bytes_of(model), options.output);
  fmt::print("{}   {}, {} pieces of {}\n", printable(options.output), training.model,
             made->vocabulary(), format_bytes(double(text.size())));
}

void add_data_tokenizer(const Command& group) {
  const auto [command, options] =
      group.command("tokenizer", "train a subword tokenizer for data.tokenizer = \"sentencepiece\"",
                    data_tokenizer_command);
  command.option("files", &options.files, "texts: files or globs", "FILE").required();
  command.option("--output,-o", &options.output, "model to write", "FILE").required();
  TokenizerTraining& training = options.training;
  command.option("--model", &training.model, "unigram or bpe", "KIND").shows_default();
  command.number("--vocabulary", &training.vocabulary,
                 "largest number of pieces, including 256 bytes");
  command.number("--bytes", &training.bytes,
                 "largest number of bytes to train on, in lines spread evenly");
}

constexpr std::size_t most_peeked_columns = 12;

struct ConvertOptions : DataOptions {
  std::string output, type;
  bool compressed = false;
};

std::vector<std::size_t> shape_of(const NamedArray& array) {
  return {array.values.shape().begin(), array.values.shape().end()};
}

/// Returns "every 3600 s", "every 1 month" or "steps of 60 to 3600 s".
std::string steps_in_words(const TimeSummary& time, const NamedArray& array) {
  const std::string shortest = format_number(time.shortest_step),
                    unit = array.numeric_time ? "" : " s";
  if (time.shortest_step == time.longest_step) return "every " + shortest + unit;
  if (time.shortest_step > 0 && !array.numeric_time) {
    std::vector<double> times;
    for (std::size_t row = 0; row < array.values.shape(0); ++row)
      times.push_back(array.values(row, *array.time));
    if (const TimeStep step(times); step.counts_dates()) return "every " + step.words();
  }
  return fmt::format("steps of {} to {}{}", shortest, format_number(time.longest_step), unit);
}

void print_summary(const ArraySummary& summary, const NamedArray& array) {
  if (const auto& time = summary.time)
    fmt::print("time     {}: {} to {}, {}\n", printable(time->name),
               time_text(time->first, array.numeric_time),
               time_text(time->last, array.numeric_time), steps_in_words(*time, array));
  TextTable table = {{"column", "min", "max", "mean", "missing"}};
  for (const ColumnSummary& column : summary.columns) {
    const auto number = [&](double value) {
      return column.present == 0 ? "-" : fmt::format("{:.6g}", value);
    };
    table.push_back({column.name, number(column.smallest), number(column.largest),
                     number(column.mean), std::to_string(column.missing)});
  }
  print_table(table);
}

Json json_of(const ArraySummary& summary) {
  Json json, columns;
  if (const auto& time = summary.time)
    json.set("time", {{"name", time->name},
                      {"first", time->first},
                      {"last", time->last},
                      {"shortest_step", time->shortest_step},
                      {"longest_step", time->longest_step}});
  for (const ColumnSummary& column : summary.columns)
    columns.push({{"name", column.name},
                  {"min", column.smallest},
                  {"max", column.largest},
                  {"mean", column.mean},
                  {"missing", column.missing}});
  return json.set("columns", columns);
}

/// Prints what files of series hold: numbers, lengths and labels.
void print_series(const RealSeriesSet& set) {
  std::size_t shortest = set.rows(0), longest = 0;
  std::map<std::string, std::size_t> labels;
  for (std::size_t i = 0; i < set.series.size(); ++i) {
    shortest = std::min(shortest, set.rows(i));
    longest = std::max(longest, set.rows(i));
    if (!set.series[i].label.empty()) ++labels[set.series[i].label];
  }
  const std::string rows = shortest == longest ? format_number_of(longest, "row")
                                               : fmt::format("{} to {} rows", shortest, longest);
  fmt::print("series   {} of {}, {}{}\n", set.series.size(), rows,
             format_number_of(set.channels, "channel"),
             set.rate > 0
                 ? fmt::format(", {} Hz, {:.3g} s", set.rate, double(longest) / double(set.rate))
                 : "");
  std::vector<std::string> counts;
  for (const auto& [label, count] : labels) counts.push_back(fmt::format("{} ({})", label, count));
  if (set.numbers)
    fmt::print("labels   numbers\n");
  else if (!counts.empty())
    fmt::print("classes  {}\n", printable(some_of(counts)));
}

void print_info(const Input& input, const std::string& array_name, const NamedArray& array,
                bool json) {
  const ArraySummary summary = summarize(array);
  const std::string kind = file_kind(input.bytes());
  if (!json) {
    fmt::print("{}   {}{}{} {}, {}\n", input.name(), kind, array_name.empty() ? "" : " ",
               array_name, shape_text(shape_of(array)), format_bytes(double(input.bytes().size())));
    if (kind == "series" || kind == "sound")
      print_series(parse_labelled_series(input.bytes(), input.name(), {.series = SeriesOptions()}));
    return print_summary(summary, array);
  }
  Json line = {{"file", input.name()}, {"kind", kind}};
  if (!array_name.empty()) line.set("array", array_name);
  line.set("shape", shape_of(array));
  print_line(line.set(json_of(summary)));
}

/// Returns the number of rows to show, at most `most`, and the numbers per row.
std::pair<std::size_t, std::size_t> front_of(const NamedArray& array, std::size_t most) {
  const std::size_t rows = array.values.dimension() == 0 ? 1 : array.values.shape(0);
  return {std::min(rows, most), rows == 0 ? 0 : array.values.size() / rows};
}

void print_rows(const NamedArray& array, std::size_t most) {
  const auto [rows, width] = front_of(array, most);
  const std::size_t shown = std::min(width, most_peeked_columns);
  const auto row_of = [&](const auto& text) {
    std::vector<std::string> row;
    for (std::size_t column = 0; column < shown; ++column) row.push_back(text(column));
    if (shown < width) row.push_back("...");
    return row;
  };
  TextTable table = {row_of([&](std::size_t column) { return column_name(array, column); })};
  for (std::size_t i = 0; i < rows; ++i)
    table.push_back(row_of([&](std::size_t column) {
      const double value = array.values.data()[i * width + column];
      const bool is_time = array.time == column || std::ranges::count(array.more_times, column) > 0;
      return is_time ? time_text(value, array.numeric_time) : format_number(value);
    }));
  if (shown > 0) print_table(table);
}

void print_rows_json(const NamedArray& array, std::size_t most) {
  const auto [rows, width] = front_of(array, most);
  Json numbers = Json::array();
  const double* first = array.values.data();
  for (std::size_t i = 0; i < rows; ++i, first += width)
    numbers.push(std::vector<double>(first, first + width));
  print_line({{"columns", array.columns}, {"rows", numbers}});
}

/// Returns the type named, else that of the input, else the default, which holds every number.
ElementType type_for(const std::string& name, ByteSpan input) {
  if (!name.empty()) return element_type(name);
  const std::string kind = file_kind(input);
  if (kind == "npy") return parse_npy_header(input, kind).type;
  if (kind == "idx") return parse_idx_header(input, kind).type;
  return kind == "cifar" ? element_type("uint8") : ElementType();
}

/// Prints information on each file, and on each array of a .npz file unless --array chose one.
void data_info_command(const DataOptions& options) {
  const ReadOptions reading = read_options(options);
  for (const std::string& file : options.files) {
    const Input input = open_input(file);
    refuse_foreign(file, input.text());
    if (file_kind(input.bytes()) == "npz" && reading.array.empty()) {
      const Npz npz(input.bytes(), input.name());
      for (const std::string& name : npz.names())
        print_info(input, name, {npz.values(name), {}}, options.json);
    } else {
      print_info(input, reading.array, parse_array(input.bytes(), input.name(), reading),
                 options.json);
    }
  }
}

void data_peek_command(const DataOptions& options) {
  const ReadOptions reading = read_options(options);
  for (const std::string& file : options.files) {
    const NamedArray array = read_array(file, reading);
    options.json ? print_rows_json(array, options.rows) : print_rows(array, options.rows);
  }
}

void data_convert_command(const ConvertOptions& options) {
  const Input input = open_input(options.files[0]);
  NamedArray array = parse_array(input.bytes(), input.name(), read_options(options));
  array.offsets.clear();  // all formats hold times in UTC
  const ElementType type = type_for(options.type, input.bytes());
  ArrayFormat format{.npz = {type, options.compressed}};
  if (!options.reading.array.empty()) format.array = options.reading.array;
  write_array(options.output, array, format);
  if (options.output != "-") fmt::print("{}   {}\n", options.output, shape_text(shape_of(array)));
}

void add_files(const Command& command, DataOptions& options) {
  command.option("files", &options.files, readable_formats, "FILE").required();
  command.flag("--json", &options.json, "print JSON lines");
}

void add_convert(const Command& group) {
  const auto [command, options] =
      group.command("convert", "convert a file to another format", data_convert_command);
  add_reading(command, options, "refuse");
  command.option("files", &options.files, readable_formats, "FILE").required().single();
  command.option("--output,-o", &options.output, writable_names, "FILE").required();
  command.option("--type", &options.type, "element type in .npy and .npz: " + element_type_names(),
                 "TYPE");
  command.flag("--compressed", &options.compressed, "npz: deflate the arrays");
}

void add_data_batch(const Command& group) {
  const auto [command, options] = group.command(
      "batch", "print the examples and loss of a training step; write outputs and gradients",
      data_batch_command);
  add_run(command, options.run);
  command.option("--step", &options.step, "step from 0 (default: the one after the checkpoint)",
                 "N");
  command.option("--output,-o", &options.output, "write examples, loss and outputs as arrays, .npz",
                 "FILE");
  command.flag("--gradients", &options.gradients, "also write the gradients of all parameters");
  command.flag("--json", &options.json, "print JSON lines");
  add_model_changes(command, options);
}

}  // namespace

// In cluster.cpp.
void add_data_cluster(const Command& group);

void add_data(const Command& program) {
  const Command group = program.group(
      "data",
      "inspect, convert and cluster files of numbers, print examples of a run, train tokenizers",
      false);
  const auto [info, info_options] =
      group.command("info", "print kind, shape and columns of files", data_info_command);
  add_reading(info, info_options, "nan");
  add_files(info, info_options);
  const auto [peek, peek_options] =
      group.command("peek", "print the first rows of files", data_peek_command);
  add_reading(peek, peek_options, "nan");
  peek.option("--rows", &peek_options.rows, "number of rows", "N").shows_default();
  add_files(peek, peek_options);
  add_data_check(group);
  add_convert(group);
  add_data_cluster(group.with_threads());
  add_data_batch(group);
  add_data_tokenizer(group);
}

}  // namespace bochner

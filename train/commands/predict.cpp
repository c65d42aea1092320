#include <fmt/format.h>

#include <bochner/data/files/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/labelled_texts.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/model_weights.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/text_scores.hpp>
#include <bochner/train/tasks/tokenizers.hpp>
#include <bochner/train/tasks/train_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct PredictOptions : ModelOptions {
  std::vector<std::string> inputs;  ///< none for standard input
  std::string output = "-";
  bool lines = false, tokens = false;
};

/// Texts, and what each is called.
struct NamedTexts {
  std::vector<std::string> texts, names;

  void add(std::string text, std::string name) {
    texts.push_back(std::move(text));
    names.push_back(std::move(name));
  }

  /// `file` is empty where it is the only one.
  void add_part(std::string text, const std::string& file, std::size_t number) {
    add(std::move(text),
        file.empty() ? std::to_string(number) : fmt::format("{}:{}", file, number));
  }

  void add_rows(const std::vector<std::string>& rows, const std::string& file) {
    for (std::size_t i = 0; i < rows.size(); ++i) add_part(rows[i], file, i + 1);
  }

  void add_lines(std::string_view text, const std::string& file) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      add_part(std::string(line), file, number);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
};

std::vector<std::string> inputs_of(const PredictOptions& options) {
  return options.inputs.empty() ? std::vector<std::string>{"-"} : options.inputs;
}

std::string only(const PredictOptions& options) {
  demand(options.inputs.size() <= 1, "{}: a second input; this model reads one table at a time",
         options.inputs.size() > 1 ? options.inputs[1] : "");
  return inputs_of(options)[0];
}

/// Sequences that are computed at a time.
std::size_t batch_size(const Config& config) {
  return read_spec<TrainSpec>(config, "train").validation_batch();
}

/// The table that a model which learned from tables reads.
NamedArray read_table(const Config& config, const std::vector<std::string>& columns,
                      const std::string& input) {
  ReadOptions reading = table_options(config);
  reading.csv.named_columns = columns;
  for (const char* asked : {"data.label_column", "data.target"})
    std::erase(reading.csv.columns, config.text(asked));
  if (config.flag("data.stamps"))
    reading.csv.missing = "nan";  // rows without values are asked for: the task fills in others
  return read_array(input, reading);
}

/// Each input is a text, or each line of them is, or the rows of tables where the model learned
/// such.
NamedTexts read_texts(const PredictOptions& options, const Config& config) {
  const bool of_tables =
      config.text("data.kind") == "texts" && !config.text("data.label_column").empty();
  NamedTexts all;
  for (const std::string& name : inputs_of(options)) {
    const std::string file = options.inputs.size() > 1 ? name : "";
    if (of_tables && !options.lines) {
      all.add_rows(texts_of_column(read_table(config, {}, name), config.text("data.text_column")),
                   file);
      continue;
    }
    const Input input(name);
    if (options.lines)
      all.add_lines(input.text(), file);
    else
      all.add(std::string(input.text()), input.name());
  }
  demand(!all.texts.empty(), "the input holds no line");
  return all;
}

/// A row for each text, or for each token of them. The files that the model learned from need not
/// be there.
NamedArray predict_bytes(const PredictOptions& options, const LoadedRun& run,
                         const NamedTexts& all) {
  const std::size_t length = run.config.count("data.length");
  const auto model =
      make_language_model(trunk_spec(run.config, length), run.config.count("train.seed"));
  load_model(run.checkpoint, *model, !options.live_weights);
  const auto tokenizer = tokenizer_of(run.config);
  const std::vector<TextScores> scores =
      score_texts(*model, *tokenizer, all.texts, length, batch_size(run.config));
  return options.tokens ? token_table(*tokenizer, scores) : score_table(*tokenizer, scores);
}

/// What a model says about texts or a table.
NamedArray predict(const PredictOptions& options, const LoadedRun& run) {
  const std::string& kind = run.config.text("data.kind");
  const bool bytes = kind == "bytes", texts = bytes || kind == "texts";
  demand(texts || !options.lines, "--lines: is for models of texts, not of {}", kind);
  demand(bytes || !options.tokens, "--tokens: is for language models of bytes, not of {}", kind);
  const NamedTexts all = texts ? read_texts(options, run.config) : NamedTexts();
  NamedArray result;
  if (bytes) {
    result = predict_bytes(options, run, all);
  } else {
    const auto task = make_task(run.config);
    load_model(run.checkpoint, task->model(), !options.live_weights);
    if (!texts) return task->predict(read_table(run.config, task->input_columns(), only(options)));
    result = task->predict_texts(all.texts, batch_size(run.config));
  }
  result.texts[0] = all.names;
  return result;
}

void predict_command(const PredictOptions& options) {
  write_array(options.output, predict(options, load_run(options.run, options.sets)));
}

}  // namespace

void add_predict(const Command& program) {
  const auto [command, options] =
      program.command("predict", "what a model says about new data", predict_command);
  add_run(command, options.run);
  command.option("inputs", &options.inputs,
                 std::string("tables: ") + readable_formats +
                     "; for models of texts any files, each a text; none for standard input",
                 "FILE");
  command.option("--output,-o", &options.output, writable_names, "FILE").shows_default();
  command.flag("--lines", &options.lines, "models of texts: each line is a text");
  command.flag("--tokens", &options.tokens,
               "language models: the log probability of every token, not of the text");
  add_model_changes(command, options);
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <fmt/format.h>
#include <unistd.h>

#include <bochner/base/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/train/commands/calibrated_run.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/run/instruments/drawn_posteriors.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/conformal/class_calibration.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/text_scores.hpp>
#include <bochner/train/tasks/train_spec.hpp>
#include <cmath>

namespace bochner {
namespace {

struct PredictOptions : ModelOptions {
  std::vector<std::string> inputs;  ///< empty for standard input
  std::string output = "-";
  bool lines = false, tokens = false, latent = false;
  bool anomaly = false, impute = false;
  std::optional<double> coverage = {};
  std::size_t draws = 0, steps = 0;
  std::optional<std::size_t> context = {};
  CommandLine* line = nullptr;

  bool uses_calibration() const { return anomaly || impute || coverage; }

  static bool is_latent(const Config& config) { return config.text("model.kind") == "vae"; }
};

bool reads_texts(const Config& config) {
  const std::string& kind = config.text("data.kind");
  return kind == "bytes" || kind == "texts";
}

struct NamedTexts {
  std::vector<std::string> texts, names;

  /// Broadcasts the texts of the first process.
  void share(Processes& processes) {
    processes.share(texts);
    processes.share(names);
  }

  void add(std::string text, std::string name) {
    texts.push_back(std::move(text));
    names.push_back(std::move(name));
  }

  /// Adds a text named "FILE:NUMBER", or "NUMBER" if `file` is "".
  void add_part(std::string text, const std::string& file, std::size_t number) {
    add(std::move(text),
        file.empty() ? std::to_string(number) : fmt::format("{}:{}", file, number));
  }
};

std::vector<std::string> inputs_of(const PredictOptions& options) {
  if (!options.inputs.empty()) return options.inputs;
  if (::isatty(STDIN_FILENO))
    fmt::print(
        stderr,
        "note     reading standard input until Ctrl-D; name files after the run to read them\n");
  return {"-"};
}

std::string only_input(const PredictOptions& options) {
  demand(options.inputs.size() <= 1, "{}: second input; this model reads one table at a time",
         options.inputs.size() > 1 ? options.inputs[1] : "");
  return inputs_of(options)[0];
}

std::size_t batch_size(const Config& config) {
  return read_spec<TrainSpec>(config, "train").validation_batch();
}

NamedArray read_table(const Config& config, const AnswersTables* tables, const std::string& input) {
  ReadOptions reading = tables ? tables->read_options() : table_options(config);
  if (tables) reading.csv.named_columns = tables->input_columns();
  for (const char* asked : {"data.label_column", "data.target"})
    std::erase(reading.csv.columns, config.text(asked));
  refuse_pipe(input);
  if (config.flag("data.stamps"))
    reading.csv.missing = "nan";  // those rows are to be predicted; the learner fills in others
  return read_array(input, reading);
}

/// Reads one text per input, per line (--lines), or per table row if the model was trained on
/// tables.
NamedTexts read_texts(const PredictOptions& options, const Config& config) {
  const bool of_tables =
      config.text("data.kind") == "texts" && !config.text("data.label_column").empty();
  NamedTexts all;
  for (const std::string& name : inputs_of(options)) {
    const std::string file = options.inputs.size() > 1 ? name : "";
    if (of_tables && !options.lines) {
      const std::vector<std::string> rows =
          texts_of_column(read_table(config, nullptr, name), config.text("data.text_column"));
      for (std::size_t i = 0; i < rows.size(); ++i) all.add_part(rows[i], file, i + 1);
      continue;
    }
    refuse_pipe(name);
    const Input input(name);
    std::string_view rest = input.text();
    if (!options.lines) all.add(std::string(rest), input.name());
    for (std::size_t number = 1; options.lines && !rest.empty(); ++number)
      all.add_part(std::string(take_line(rest)), file, number);
  }
  demand(!all.texts.empty(), "the input is empty");
  return all;
}

/// Inserts a first column with the names.
NamedArray with_names(const NamedArray& array, const std::vector<std::string>& names) {
  const std::size_t rows = array.values.shape()[0], columns = array.values.shape()[1];
  NamedArray named;
  named.values.resize({rows, 1 + columns});
  for (std::size_t i = 0; i < rows; ++i) {
    named.values(i, 0) = double(i);
    for (std::size_t j = 0; j < columns; ++j) named.values(i, 1 + j) = array.values(i, j);
  }
  named.columns = array.columns;
  named.columns.insert(named.columns.begin(), "text");
  named.texts[0] = names;
  return named;
}

/// Calls take(ask(), n) with the learned parameters, or with each draw n of their posterior.
template <class Ask, class Take>
void each_draw(const PredictOptions& options, const Config& config, Module& model, const Ask& ask,
               const Take& take) {
  DrawnPosteriors posteriors(model, config.count("train.seed"));
  require_posterior(posteriors, options.draws);
  if (options.draws == 0) return take(ask(), 0);
  for (std::size_t n = 0; n < options.draws; ++n) {
    const DrawnPosteriors::Draw draw(posteriors, n);
    take(ask(), n);
  }
}

/// Returns the mean of ask() over draws; values equal in all draws keep their bits.
template <class Ask>
NamedArray mean_over_draws(const PredictOptions& options, const Config& config, Module& model,
                           const Ask& ask) {
  NamedArray mean;
  each_draw(options, config, model, ask, [&](NamedArray answer, std::size_t n) {
    if (n == 0) {
      mean = std::move(answer);
      return;
    }
    for (std::size_t i = 0; i < mean.values.size(); ++i) {
      double& value = mean.values.data()[i];
      value += (answer.values.data()[i] - value) / double(n + 1);
    }
  });
  return mean;
}

/// Returns the logarithm of the mean probability over draws.
template <class Ask>
std::vector<TextScores> mean_scores(const PredictOptions& options, const Config& config,
                                    Module& model, const Ask& ask) {
  std::vector<TextScores> mean;
  each_draw(options, config, model, ask, [&](std::vector<TextScores> scores, std::size_t n) {
    if (n == 0) mean = std::move(scores);
    for (std::size_t i = 0; i < mean.size() && n > 0; ++i)
      for (std::size_t t = 0; t < mean[i].log_probabilities.size(); ++t) {
        double& now = mean[i].log_probabilities[t];
        const double ratio = std::exp(scores[i].log_probabilities[t] - now);
        now += std::log1p((ratio - 1) / double(n + 1));
      }
  });
  return mean;
}

TextContext context_of(const PredictOptions& options, const WritesText& writer) {
  if (!options.context && writer.carries_context()) return {};
  const std::size_t repeated = options.context.value_or(0);
  demand(repeated < writer.window(), "--context {}: must be less than the {} tokens of a window",
         repeated, writer.window());
  return {writer.window(), repeated};
}

/// Scores texts: one row per text, or per token (--tokens).
NamedArray score(const PredictOptions& options, const Config& config, Learner& learner,
                 const NamedTexts& all, Processes& processes) {
  WritesText& writer = *learner.abilities().writes;
  const auto scores = mean_scores(options, config, learner.model(), [&] {
    return score_texts(writer.language_model(), writer.tokenizer(), all.texts,
                       context_of(options, writer), batch_size(config), processes);
  });
  return options.tokens ? token_table(writer.tokenizer(), scores)
                        : score_table(writer.tokenizer(), scores);
}

/// Predicts texts; the processes share the batches, and each returns the whole table.
NamedArray predict_texts(AnswersTexts& answers, const std::vector<std::string>& texts,
                         std::size_t batch, Processes& processes) {
  NamedArray result;
  const std::vector<double> numbers =
      processes.gather(ceil_div(texts.size(), batch), [&](std::size_t index) {
        const std::size_t first = index * batch, last = std::min(texts.size(), first + batch);
        result = answers.predict_texts(
            {texts.begin() + std::ptrdiff_t(first), texts.begin() + std::ptrdiff_t(last)}, batch);
        for (std::size_t row = 0; row < last - first; ++row)
          result.values(row, 0) = double(first + row);
        return std::vector<double>(result.values.begin(), result.values.end());
      });
  result.values.resize({texts.size(), numbers.size() / texts.size()});
  std::ranges::copy(numbers, result.values.data());
  return result;
}

/// Returns expected examples given their latent means, or (--latent) the latent variables.
NamedArray predict_latent(const PredictOptions& options, const Config& config,
                          const LearnerAbilities& can) {
  if (can.texts) {
    const NamedTexts all = read_texts(options, config);
    if (options.latent) return with_names(can.latent->latent_of_texts(all.texts), all.names);
    NamedArray result = can.texts->predict_texts(all.texts, batch_size(config));
    result.texts[0] = all.names;
    return result;
  }
  const NamedArray table = read_table(config, can.tables, only_input(options));
  NamedArray result = options.latent ? can.latent->latent(table) : can.tables->predict(table);
  make_table_for(options.output, result);
  return result;
}

NamedArray answer_texts(const PredictOptions& options, const Config& config, Learner& learner,
                        SharedWork& work) {
  NamedTexts all;
  if (work.leads()) all = read_texts(options, config);
  all.share(work.processes());
  const LearnerAbilities can = learner.abilities();
  NamedArray result = can.writes ? score(options, config, learner, all, work.processes())
                                 : mean_over_draws(options, config, learner.model(), [&] {
                                     return predict_texts(*can.texts, all.texts, batch_size(config),
                                                          work.processes());
                                   });
  result.texts[0] = all.names;
  return result;
}

/// Answers a table with what held-out examples have shown: anomalies, values filled in, intervals.
NamedArray answer_calibrated(const PredictOptions& options, const NamedArray& table,
                             Learner& learner) {
  const LearnerAbilities can = learner.abilities();
  if (options.anomaly) return can.calibrated->anomalies(table);
  if (options.impute) return can.calibrated->impute(table);
  can.calibrated->cover(*options.coverage);
  return can.tables->predict(table);
}

NamedArray answer_table(const PredictOptions& options, const LoadedRun& run, Learner& learner) {
  const Config& config = run.config;
  const std::string input = only_input(options);
  const LearnerAbilities can = learner.abilities();
  AnswersTables* tables = can.tables;
  demand(tables, "this model does not predict from tables: {}", learner.describe());
  demand(can.rows || options.steps == 0, "--steps applies to forecasters and ensembles, not to {}",
         learner.describe());
  if (can.rows) can.rows->forecast_rows(options.steps);
  const NamedArray table = read_table(config, tables, input);
  const bool calibrated = options.uses_calibration() && can.calibrated;
  if (calibrated && !can.calibrated->has_held_out())
    can.calibrated->set_calibration(calibration_of(run, options));
  NamedArray result = calibrated ? answer_calibrated(options, table, learner)
                                 : mean_over_draws(options, config, learner.model(),
                                                   [&] { return tables->predict(table); });
  for (const std::string& note : tables->notes())
    fmt::print(stderr, "note     {}\n", printable(note));
  return result;
}

/// Throws std::invalid_argument if the model lacks what is asked.
void require_calibrated(const PredictOptions& options, const LearnerAbilities& can,
                        const std::string& model) {
  demand(can.calibrated || !options.anomaly,
         "--anomaly applies to models of series and of events, "
         "not to this one: {}",
         model);
  demand(can.calibrated || !options.impute,
         "--impute applies to models of series, not to this "
         "one: {}",
         model);
  demand(!can.writes || !options.coverage,
         "--coverage applies to models of series and of classes, "
         "not to this one: {}",
         model);
}

/// Predicts from texts or a table; for a table the first process works and the others wait.
NamedArray predict(const PredictOptions& options, const LoadedRun& run, SharedWork& work) {
  const bool texts = reads_texts(run.config), shared = texts && !options.is_latent(run.config);
  if (!shared && !work.leads()) return {};
  const auto learner = load_learner(run, options, work.leads());
  const LearnerAbilities can = learner->abilities();
  if (can.latent) return predict_latent(options, run.config, can);
  require_calibrated(options, can, learner->describe());
  NamedArray result = texts ? answer_texts(options, run.config, *learner, work)
                            : answer_table(options, run, *learner);
  if (options.coverage && !can.calibrated && work.leads())
    result = with_class_sets(result, "class_", calibration_of(run, options), *options.coverage);
  return result;
}

/// Loads the run and throws std::invalid_argument if options do not apply to its model.
LoadedRun run_of(const PredictOptions& options) {
  LoadedRun run = load_run(options.run, options.sets);
  const std::string& kind = run.config.text("data.kind");
  demand(reads_texts(run.config) || !options.lines, "--lines applies to models of texts, not of {}",
         kind);
  const bool is_vae = options.is_latent(run.config);
  demand(is_vae || !options.latent, "--latent applies to a vae, not to {}",
         run.config.text("model.kind"));
  demand(!is_vae || (!options.tokens && options.draws == 0),
         "--tokens and --draws have no effect with a vae; remove them");
  demand(kind == "series" || options.steps == 0, "--steps applies to models of series, not of {}",
         kind);
  const int asked = int(options.anomaly) + int(options.impute) + int(options.coverage.has_value());
  demand(asked <= 1, "--coverage, --anomaly and --impute exclude each other; ask for one");
  demand(asked == 0 || (options.draws == 0 && !is_vae),
         "--coverage, --anomaly and --impute have no effect with --draws or a vae; remove them");
  demand(options.steps == 0 || !(options.anomaly || options.impute),
         "--steps has no effect with --anomaly and --impute; remove it");
  if (options.coverage) require_level(*options.coverage);
  demand(kind == "bytes" || !options.tokens,
         "--tokens applies to language models of bytes, not of {}", kind);
  return run;
}

void predict_command(const PredictOptions& options) {
  SharedWork work(*options.line);
  const LoadedRun run = work.first_opens(options, run_of);
  NamedArray result = predict(options, run, work);
  // Files of numbers identify texts, classes and sequences by their index.
  const std::string& kind = run.config.text("data.kind");
  const bool names_rows =
      reads_texts(run.config) || kind == "event_files" || kind == "labelled_series";
  if (names_rows && is_array_file(options.output)) result.texts.clear();
  if (work.leads()) write_array(options.output, result);
  if (work.leads()) note_verdict(options.run);
  work.end();
}

}  // namespace

void add_predict(const Command& program) {
  const auto [command, options] =
      program.command("predict", "predict from new data", predict_command);
  command.memory_advice(
      "out of memory; lower train.validate.batch with --set, or give less input at a time");
  options.line = command.shares_work();
  add_run(command, options.run);
  command.option("inputs", &options.inputs,
                 std::string("tables: ") + readable_formats +
                     "; models of texts: any files, each a text (default: standard input)",
                 "FILE");
  command.option("--output,-o", &options.output, writable_names, "FILE").shows_default();
  command.flag("--lines", &options.lines, "models of texts: each line is a text");
  command.flag("--tokens", &options.tokens,
               "language models: log probability of every token, not of the text");
  command.flag("--latent", &options.latent,
               "vae: the latent variable (mean, deviation, most probable categories), not the data "
               "expected there");
  command.number("--context", &options.context,
                 "language models: read texts in windows as in training, each with the last N "
                 "tokens before it; by default all tokens before are context if the model carries "
                 "them in constant memory, else 0");
  command.number("--steps", &options.steps,
                 "series: forecast N rows; those after data.horizon follow from forecasts of the "
                 "rows before them");
  command.number(
      "--coverage", &options.coverage,
      "series: intervals that hold with this probability, by the errors of held-out rows "
      "and of known rows after them; classes: a set that holds the right one so often, "
      "whichever it is");
  command.flag(
      "--anomaly", &options.anomaly,
      "series, events: how unusual each row is given those before it: its surprise in nats, "
      "and the probability of as much among held-out rows (p)");
  command.flag(
      "--impute", &options.impute,
      "series: the table with missing values filled in, by the rows before and after them");
  add_draws(command, options.draws);
  add_model_changes(command, options);
}

}  // namespace bochner

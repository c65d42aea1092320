#pragma once
/// Task: what is trained on what. A model, its data and its loss. The loop, checkpoints and
/// commands see nothing else.

#include <bochner/data/dataset.hpp>
#include <bochner/data/formats/npz.hpp>
#include <bochner/data/vocabularies.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/series/backtest.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bochner {
class Config;
class Json;
class Page;

/// One more number besides the loss, as a sum over the same terms or its own.
struct Measure {
  std::string name;  ///< in JSON: "accuracy"
  std::string unit;  ///< behind the number: "bits/byte"; behind the percentage: "right"
  double sum = 0;
  bool percent = false;
  double terms = 0;  ///< what it is a mean over, where those are not the terms of the loss
};

/// The quality of a model on validation examples.
struct Evaluation {
  double loss_sum = 0;
  std::uint64_t terms = 0;  ///< what was predicted: tokens, labels, values
  std::string unit = "nats";
  std::vector<Measure> measures = {};  ///< what the task is judged by besides its loss

  /// An empty one takes over unit and measures; others must have the same.
  Evaluation& operator+=(const Evaluation& part);
  double loss() const { return loss_sum / double(terms); }
  double mean(const Measure& measure) const {
    return measure.sum / (measure.terms > 0 ? measure.terms : double(terms));
  }
  /// The mean of a measure; throws std::invalid_argument when there is none of that name.
  double mean(std::string_view name) const;
  /// "1.4680 nats   2.1179 bits/byte" or "0.0810 nats   97.50 % right"
  std::string words() const;
  /// The same as an object: the loss under its own name and those of the measures.
  Json json(std::string_view loss_name = "valid") const;
};

/// How many labels have the largest score of their row, the first among equals. (.., V), (..)
std::uint64_t right_answers(const Var& scores, const Indices& labels);
/// Loss over the labels that are not -1, and how many of them are right. logits (.., V), labels
/// (..)
Evaluation evaluate_answers(const Var& logits, const Indices& labels);

/// Embeddings of examples, and their labels 0, ..., classes - 1, where they have any. (n, width),
/// (n)
struct Embeddings {
  std::size_t width = 0, classes = 0;
  std::vector<double> values = {};
  std::vector<std::int32_t> labels = {};
};

class Task {
 public:
  virtual ~Task() = default;
  virtual Module& model() = 0;
  virtual const Dataset& data() const = 0;

  /// The mean over the examples. -> ()
  virtual Var loss(Tape& tape, const Examples& examples) = 0;
  virtual Evaluation evaluate(Tape& tape, const Examples& examples) = 0;

  /// What is made anew before the gradients of a training step that begins with this example,
  /// counted on from epoch to epoch: clusters of all examples. By default nothing.
  virtual void before_step(std::uint64_t first_example) { (void)first_example; }

  /// Columns that predict() takes from a table that names its columns, besides the time; none for
  /// all.
  virtual std::vector<std::string> input_columns() const { return {}; }
  /// What the model says about a table of the user's: `bochner predict`. By default throws
  /// std::invalid_argument.
  virtual NamedArray predict(const NamedArray& input);
  /// What the user is to know of the last answers, a line each.
  virtual std::vector<std::string> notes_on_prediction() const { return {}; }
  /// What the model says about texts, a row for each with its number in the first column; `batch`
  /// of them are computed at a time. By default throws std::invalid_argument.
  virtual NamedArray predict_texts(const std::vector<std::string>& texts, std::size_t batch);
  /// Examples as the model takes them, in its units, and what it makes of them in evaluation, by
  /// name: "tokens", "targets", .., "outputs". For other programs. By default throws
  /// std::invalid_argument.
  virtual NamedArrays arrays(const Examples& examples);
  /// What it says at rolling origins; nothing of a task that forecasts no rows, or without windows.
  virtual std::optional<Backtest> backtest(const BacktestPlan&) { return std::nullopt; }
  /// Of the examples of a split, the first 65,536 at most, in their order, `batch` at a time;
  /// nothing of a task that does not learn any.
  virtual std::optional<Embeddings> embeddings(Split, std::size_t) { return std::nullopt; }
  /// Columns of which the model, whose tensors come from elsewhere, has a unit far from that of the
  /// data, in words.
  virtual std::vector<std::string> shifted_columns() { return {}; }
  /// What its numbers stand for, as far as the data say so in texts.
  virtual Vocabularies names() const { return {}; }
  /// What the model is made for besides what its config and its tensors say: {"length": 128}.
  virtual Json sizes() const;

  /// Adds sections with pictures of held-out examples to the report of a run.
  virtual void illustrate(Page&) {}

  /// Of the loss, behind numbers: Evaluation's.
  virtual std::string loss_unit() const { return "nats"; }
  /// For the user: "lm, 4 blocks, D 128, linear(positive, gaussian, m 64)"
  virtual std::string describe_model() const = 0;
  /// Sets parameters to where the data says that a new run starts, before its first step; those
  /// that come from a checkpoint do without. By default nothing.
  virtual void start() {}
};

/// The batches of a split that are taken: all, or a limited number with equal steps between them,
/// since the first ones of a split (texts of the first files, earliest times) are unlike the rest.
struct TakenBatches {
  std::uint64_t count = 0, all = 0;

  /// Of the batch in place k of the taken ones, in the split.
  std::uint64_t index(std::uint64_t k) const { return k * all / count; }
};
/// At most `limit` batches, or all if that is 0.
TakenBatches batches_taken(const Dataset& data, Split split, std::size_t batch,
                           std::uint64_t limit);
/// The same for an evaluation. Throws std::invalid_argument for a split without batches.
TakenBatches evaluated_batches(const Dataset& data, Split split, std::size_t batch,
                               std::uint64_t limit = 0);
/// Over the taken batches from place `first` on, in front of `last`. `should_stop`, if there is
/// one, is asked after each; nothing is returned when it says yes.
std::optional<Evaluation> evaluate_batches(Task& task, Split split, std::size_t batch,
                                           const TakenBatches& taken, std::uint64_t first,
                                           std::uint64_t last,
                                           const std::function<bool()>& should_stop = {});
/// Both: over all batches of a split, or at most `limit`.
std::optional<Evaluation> evaluate_task(Task& task, Split split, std::size_t batch,
                                        std::uint64_t limit = 0,
                                        const std::function<bool()>& should_stop = {});

/// Over all of a split, to the last token: the rest behind the last example too.
Evaluation evaluate_all(Task& task, Split split, std::size_t batch);

/// The task that a valid config describes, its model initialised from train.seed.
std::unique_ptr<Task> make_task(const Config& config);
/// Of data in files, a model whose parameters have the names of the one that learns them, but not
/// the sizes that only the files tell. Null where the names depend on the files, too, and for data
/// that is generated. Throws std::invalid_argument where such sizes do not suit the layers.
std::unique_ptr<Module> make_stand_in(const Config& config);

}  // namespace bochner

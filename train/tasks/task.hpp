#pragma once
/// Task: a learner, the data that it is trained on, and its loss.

#include <bochner/data/dataset.hpp>
#include <bochner/data/formats/npz.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/learner.hpp>
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

/// Does something before the gradients of a training step that begins with this example, counted on
/// from epoch to epoch: clusters all examples anew.
class PreparesSteps {
 public:
  virtual ~PreparesSteps() = default;
  virtual void before_step(std::uint64_t first_example) = 0;
};

/// Forecasts at rolling origins.
class Backtests {
 public:
  virtual ~Backtests() = default;
  /// Nothing without windows.
  virtual std::optional<Backtest> backtest(const BacktestPlan& plan) = 0;
};

/// Learns embeddings.
class Embeds {
 public:
  virtual ~Embeds() = default;
  /// Embeddings of the examples of a split in their order, the first 65,536 at most, `batch` at a
  /// time.
  virtual Embeddings embeddings(Split split, std::size_t batch) = 0;
};

/// Keeps units of columns.
class HasUnits {
 public:
  virtual ~HasUnits() = default;
  /// Columns whose unit in the model is far from that of the data, in words.
  virtual std::vector<std::string> shifted_columns() = 0;
};

/// Evaluates by a bound over draws of a latent variable.
class BoundsByDraws {
 public:
  virtual ~BoundsByDraws() = default;
  /// Evaluations report the importance-weighted bound of so many draws where they are more than
  /// one.
  virtual void evaluate_by(std::size_t draws) = 0;
};

/// What a task can do besides training and evaluating; null where it cannot.
struct TaskAbilities {
  PreparesSteps* steps = nullptr;
  Backtests* backtests = nullptr;
  Embeds* embeds = nullptr;
  HasUnits* units = nullptr;
  BoundsByDraws* bounds = nullptr;
};

/// A learner with the dataset that it is trained on.
class Task {
 public:
  virtual ~Task() = default;
  virtual Learner& learner() = 0;
  virtual const Dataset& data() const = 0;

  /// The mean over the examples. -> ()
  virtual Var loss(Tape& tape, const Examples& examples) = 0;
  virtual Evaluation evaluate(Tape& tape, const Examples& examples) = 0;
  /// Examples as the model takes them, in its units, and its outputs, by name: "tokens", "targets",
  /// .., "outputs". For other programs. By default throws std::invalid_argument.
  virtual NamedArrays arrays(const Examples& examples);
  /// Sets parameters to where the data suggest that a new run starts, before its first step. By
  /// default does nothing.
  virtual void start() {}
  /// Adds sections with pictures of held-out examples to the report of a run.
  virtual void illustrate(Page&) {}
  virtual TaskAbilities abilities() { return {}; }

  Module& model() { return learner().model(); }
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

/// The task that a valid config describes, its model initialised from train.seed. Names in the data
/// are numbered as in the facts that are known. Throws DataError for data that do not fit these.
std::unique_ptr<Task> make_task(const Config& config, const KnownFacts& known = {});

}  // namespace bochner

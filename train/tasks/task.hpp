#pragma once
/// Task: a learner, the data that it is trained on, and its loss.

#include <bochner/data/dataset.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/series/backtest.hpp>
#include <bochner/train/tasks/verdict.hpp>
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
class Task;

/// Measure in addition to the loss, as a sum over the same terms or its own.
struct Measure {
  std::string name;  ///< in JSON: "accuracy"
  std::string unit;  ///< shown after the number: "bits/byte"; after a percentage: "right"
  double sum = 0;
  bool percent = false;
  double terms = 0;  ///< number of terms of the mean; 0 for those of the loss
};

/// Quality of a model on validation examples.
struct Evaluation {
  double loss_sum = 0;
  std::uint64_t terms = 0;  ///< number of predictions: tokens, labels, values
  std::string unit = "nats";
  std::vector<Measure> measures = {};  ///< in addition to the loss

  /// Adds a part with the same unit and measures; an empty evaluation becomes that part.
  Evaluation& operator+=(const Evaluation& part);
  double loss() const { return loss_sum / double(terms); }
  double mean(const Measure& measure) const {
    return measure.sum / (measure.terms > 0 ? measure.terms : double(terms));
  }
  /// Returns the mean of a measure; throws std::invalid_argument if there is none of that name.
  double mean(std::string_view name) const;
  /// Returns "1.4680 nats   2.1179 bits/byte" or "0.0810 nats   97.50 % right".
  std::string words() const;
  /// Returns an object with the loss under `loss_name`, and the measures by name.
  Json json(std::string_view loss_name = "valid") const;
};

/// Counts the labels with the largest score of their row, the first among equals. (.., V), (..)
std::uint64_t right_answers(const Var& scores, const Indices& labels);
/// Returns the loss over the labels that are not -1, and the accuracy. logits (.., V), labels (..)
Evaluation evaluate_answers(const Var& logits, const Indices& labels);
/// Returns the accuracy of an evaluation of held-out examples beside that of their most frequent
/// class.
Verdict class_verdict(const Indices& labels, std::size_t classes, const Evaluation& evaluation);

/// Embeddings (n, width) of examples, and their labels (n) from 0 to classes - 1, if they have any.
struct Embeddings {
  std::size_t width = 0, classes = 0;
  std::vector<double> values = {};
  std::vector<std::int32_t> labels = {};
};

/// Does work before the gradients of a training step, such as clustering all examples.
class PreparesSteps {
 public:
  virtual ~PreparesSteps() = default;
  /// `first_example`: number of the first example of the step, counted over all epochs.
  virtual void before_step(std::uint64_t first_example) = 0;
};

/// Forecasts at rolling origins.
class Backtests {
 public:
  virtual ~Backtests() = default;
  /// Returns nothing if the split has no windows.
  virtual std::optional<Backtest> backtest(const BacktestPlan& plan) = 0;
};

/// How often intervals or sets hold, and how wide they are.
struct Coverage {
  std::string name;    ///< of the method
  double covered = 0;  ///< number of terms that the intervals hold
  double width = 0;    ///< sum of widths, or of classes in the sets
  double terms = 0;
};
struct CoverageReport {
  std::string unit;  ///< of widths
  std::vector<Coverage> methods = {};
};

/// Measures its own errors on held-out examples.
class Calibrates {
 public:
  virtual ~Calibrates() = default;
  /// Returns what the validation examples show, or those that a fit at once has held out. Throws
  /// std::invalid_argument if there are none.
  virtual Calibration calibrate() = 0;
  /// Returns how often intervals of a level hold in a split, in the order of the data, of forecasts
  /// `stride` rows apart. The split is not that of the calibration.
  virtual CoverageReport coverage(const Calibration& calibration, Split split, double level,
                                  std::size_t stride) = 0;
};

/// Probabilities (n, C) of the classes of examples, and their labels (n).
struct ClassProbabilities {
  std::vector<double> values = {};
  std::vector<std::int32_t> labels = {};
};

/// Returns the softmax of logits (n, C) with the labels (n).
ClassProbabilities probabilities_of(const Tensor& logits, const Indices& labels);

/// Predicts one of some classes.
class PredictsClasses {
 public:
  virtual ~PredictsClasses() = default;
  virtual std::vector<std::string> class_names() const = 0;
  virtual ClassProbabilities class_probabilities(const Examples& examples) = 0;
};

/// Learns embeddings.
class Embeds {
 public:
  virtual ~Embeds() = default;
  /// Returns embeddings of the first 65,536 examples of a split in order, `batch` at a time.
  virtual Embeddings embeddings(Split split, std::size_t batch) = 0;
};

/// Mean and standard deviation of each column. (n), (n)
struct UnitsOfColumns {
  std::vector<double> mean, deviation;
};
/// Returns the columns whose mean differs from the model's by more than three of its deviations, or
/// whose deviation differs by more than a factor of three, with both units. A deviation of 0 counts
/// as 1.
std::vector<std::string> find_shifted(const std::vector<std::string>& columns,
                                      const UnitsOfColumns& of_model, const UnitsOfColumns& here);

/// Keeps units of columns.
class HasUnits {
 public:
  virtual ~HasUnits() = default;
  /// Returns the columns whose unit in the model differs much from that of the data; see
  /// find_shifted().
  virtual std::vector<std::string> shifted_columns() = 0;
};

/// Evaluates by a bound over draws of a latent variable.
class BoundsByDraws {
 public:
  virtual ~BoundsByDraws() = default;
  /// Makes evaluations report the importance-weighted bound of these draws, if more than one.
  virtual void evaluate_by(std::size_t draws) = 0;
};

/// Optional abilities of a task; null if it lacks them.
struct TaskAbilities {
  PreparesSteps* steps = nullptr;
  Backtests* backtests = nullptr;
  Embeds* embeds = nullptr;
  HasUnits* units = nullptr;
  BoundsByDraws* bounds = nullptr;
  Calibrates* calibrates = nullptr;
  PredictsClasses* classes = nullptr;
};

/// Batches of a split to evaluate: all, or a limited number at equal steps, since the first ones of
/// a split (texts of the first files, earliest times) differ from the rest.
struct TakenBatches {
  std::uint64_t count = 0, all = 0;

  /// Returns the index in the split of taken batch k.
  std::uint64_t index(std::uint64_t k) const { return k * all / count; }
};

/// Held-out examples that a verdict is about: all batches of a split, or at most `limit`.
struct HeldOut {
  Split split = Split::validation;
  std::size_t batch = 1;
  std::uint64_t limit = 0;
  std::optional<Evaluation> evaluation = {};  ///< of these examples, if it is known

  /// Returns the batches; none for an empty split.
  TakenBatches taken(const Dataset& data) const;
  /// Returns the evaluation. Requires examples.
  Evaluation evaluate(Task& task) const;
};

/// A learner with the dataset that it is trained on.
class Task {
 public:
  virtual ~Task() = default;
  virtual Learner& learner() = 0;
  virtual const Dataset& data() const = 0;

  /// Returns the mean loss of the examples. ()
  virtual Var loss(Tape& tape, const Examples& examples) = 0;
  virtual Evaluation evaluate(Tape& tape, const Examples& examples) = 0;
  /// Returns the inputs of the model in its units, and its outputs, by name: "tokens", "targets",
  /// ..., "outputs"; for other programs. By default throws std::invalid_argument.
  virtual NamedArrays arrays(const Examples& examples);
  /// Initialises parameters from the data, before the first step of a new run. By default does
  /// nothing.
  virtual void start() {}
  /// Fits what depends on errors on the validation examples, such as intervals; called after each
  /// validation, with the weights that were validated. By default does nothing.
  virtual void fit_errors() {}
  /// Fits what follows in closed form from the parameters and all training examples, such as a
  /// head; called before each validation, verdict and checkpoint. Training must not depend on it.
  /// By default does nothing.
  virtual void fit_closed_form() {}
  /// Returns how good the model is on held-out examples, beside naive answers. By default, and
  /// without examples, there is no verdict.
  virtual Verdict verdict(const HeldOut&) { return {}; }
  /// Adds sections with pictures of held-out examples to the report of a run.
  virtual void illustrate(Page&) {}
  virtual TaskAbilities abilities() { return {}; }

  Module& model() { return learner().model(); }
};

/// Returns at most `limit` batches, or all if that is 0.
TakenBatches batches_taken(const Dataset& data, Split split, std::size_t batch,
                           std::uint64_t limit);
/// Returns batches_taken(). Throws std::invalid_argument for a split without batches.
TakenBatches evaluated_batches(const Dataset& data, Split split, std::size_t batch,
                               std::uint64_t limit = 0);
/// Evaluates taken batches `first` to `last` - 1. Calls `should_stop`, if there is one, after each,
/// and returns nothing if it returns true.
std::optional<Evaluation> evaluate_batches(Task& task, Split split, std::size_t batch,
                                           const TakenBatches& taken, std::uint64_t first,
                                           std::uint64_t last,
                                           const std::function<bool()>& should_stop = {});
/// Evaluates all batches of a split, or at most `limit` if that is not 0.
std::optional<Evaluation> evaluate_task(Task& task, Split split, std::size_t batch,
                                        std::uint64_t limit = 0,
                                        const std::function<bool()>& should_stop = {});

/// Returns the test examples of the data, or the validation examples if there are none.
HeldOut held_out_examples(const Dataset& data, std::size_t batch, std::uint64_t limit);

/// Evaluates all of a split to the last token, with the incomplete example at its end.
Evaluation evaluate_all(Task& task, Split split, std::size_t batch);

/// Makes the task of a valid config, its model initialised from train.seed. Names in the data are
/// numbered as in the known facts. Throws DataError for data that do not fit these.
std::unique_ptr<Task> make_task(const Config& config, const KnownFacts& known = {});

}  // namespace bochner

#pragma once
/// Task: what is trained on what. A model, its examples and its loss, numbered so that every
/// position in the data is one integer. The loop, checkpoints and commands see nothing else.

#include <bochner/data/split.hpp>
#include <bochner/layers/module.hpp>
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
struct NamedArray;
}  // namespace bochner

namespace bochner::inline BOCHNER_PRECISION {

/// One more number besides the loss, as a sum over the same terms.
struct Measure {
  std::string name;  ///< in JSON: "accuracy"
  std::string unit;  ///< behind the number: "bits/byte"; behind the percentage: "right"
  double sum = 0;
  bool percent = false;
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
  /// The mean of a measure; throws std::invalid_argument when there is none of that name.
  double mean(std::string_view name) const;
  /// "1.4680 nats   2.1179 bits/byte" or "0.0810 nats   97.50 % right"
  std::string words() const;
  /// The same as an object: the loss under its own name and those of the measures.
  Json json(std::string_view loss_name = "valid") const;
};

class Task {
 public:
  virtual ~Task() = default;
  virtual Module& model() = 0;

  virtual std::uint64_t examples_per_epoch() const = 0;
  virtual std::uint64_t tokens_per_example() const = 0;
  /// Mean loss of training examples first, ..., first + count - 1, counted on from epoch to epoch.
  /// -> ()
  virtual Var loss(Tape& tape, std::uint64_t first, std::size_t count) = 0;

  virtual std::uint64_t validation_batches(std::size_t batch) const = 0;
  virtual Evaluation validate(Tape& tape, std::uint64_t index, std::size_t batch) = 0;
  /// The same of any split: what `eval --split` shows. By default the validation data are all there
  /// is, and the others have 0 batches.
  virtual std::uint64_t batches(Split split, std::size_t batch) const;
  virtual Evaluation evaluate(Tape& tape, Split split, std::uint64_t index, std::size_t batch);

  /// Columns that predict() takes from a table that names its columns, besides the time; none for
  /// all.
  virtual std::vector<std::string> input_columns() const { return {}; }
  /// What the model says about a table of the user's: `bochner predict`. By default throws
  /// std::invalid_argument.
  virtual NamedArray predict(const NamedArray& input);
  /// Adds sections with pictures of held-out examples to the report of a run.
  virtual void illustrate(Page&) {}

  /// Of the loss, behind numbers: Evaluation's.
  virtual std::string loss_unit() const { return "nats"; }
  /// Equal data give equal fingerprints: a resumed run refuses other data.
  virtual std::uint64_t data_fingerprint() const = 0;
  /// "lm, 4 blocks, D 128, linear(positive, gaussian, m 64)" and "412 files, 9.1 MB ...", for the
  /// user.
  virtual std::string describe_model() const = 0;
  virtual std::string describe_data() const = 0;
};

/// Over all batches of a split, or the first `limit` if that is not 0. `should_stop` is asked after
/// each batch; nothing is returned when it says yes. Throws std::invalid_argument for a split
/// without batches.
std::optional<Evaluation> evaluate_task(Task& task, Split split, std::size_t batch,
                                        std::uint64_t limit,
                                        const std::function<bool()>& should_stop);
inline std::optional<Evaluation> validate_task(Task& task, std::size_t batch, std::uint64_t limit,
                                               const std::function<bool()>& should_stop) {
  return evaluate_task(task, Split::validation, batch, limit, should_stop);
}

/// The task that a config describes, its model initialised from train.seed.
std::unique_ptr<Task> make_task(const Config& config);

}  // namespace bochner::inline BOCHNER_PRECISION

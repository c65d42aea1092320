#pragma once
/// Learner: a model with the facts of its data. It answers questions and never opens the data that
/// it was trained on.

#include <bochner/data/formats/npy.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/layers/encodings/token_places.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bochner {

struct Calibration;
class Config;
class Json;
struct KnownFacts;
class Page;
class Tokenizer;

/// Answers a table: `bochner predict RUN FILE`.
class AnswersTables {
 public:
  virtual ~AnswersTables() = default;
  /// Returns how to read a table with a question.
  virtual ReadOptions read_options() const = 0;
  /// Returns the columns that predict() needs in addition to the time; none for all.
  virtual std::vector<std::string> input_columns() const { return {}; }
  virtual NamedArray predict(const NamedArray& question) = 0;
  /// Returns notes on the last answer for the user, a line each.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// Forecasts as many rows as are asked for.
class ForecastsRows {
 public:
  virtual ~ForecastsRows() = default;
  /// Sets how many rows predict() forecasts after each series; 0 for the horizon of the model.
  virtual void forecast_rows(std::size_t rows) = 0;
};

/// Answers with intervals, p-values and values filled in, by what held-out examples have shown.
/// Those that a model lacks throw std::invalid_argument.
class UsesCalibration {
 public:
  virtual ~UsesCalibration() = default;
  /// Returns whether the model itself holds what set_calibration() gives others.
  virtual bool has_held_out() const { return false; }
  virtual void set_calibration(Calibration calibration) = 0;
  /// Makes predict() give intervals that hold with a probability of `level`.
  virtual void cover(double level);
  /// Returns a score of each row or event given those before it, and its p-value.
  virtual NamedArray anomalies(const NamedArray& question);
  /// Returns the table with its missing values filled in, and how many of each row were.
  virtual NamedArray impute(const NamedArray& question);
};

/// Answers texts with a row each, its number in the first column.
class AnswersTexts {
 public:
  virtual ~AnswersTexts() = default;
  /// Returns a row for each text, computed `batch` at a time.
  virtual NamedArray predict_texts(const std::vector<std::string>& texts, std::size_t batch) = 0;
};

/// Continues and scores texts token by token.
class WritesText {
 public:
  virtual ~WritesText() = default;
  virtual LanguageModel& language_model() = 0;
  virtual const Tokenizer& tokenizer() const = 0;
  /// Returns the tokens of a training window.
  virtual std::size_t window() const = 0;
  /// Returns how many positions the model distinguishes.
  virtual std::size_t positions() const = 0;
  /// Whether the model carries what it has read through any text in constant memory.
  virtual bool carries_context() const = 0;
};

/// Has a latent variable with a prior.
class HasLatent {
 public:
  virtual ~HasLatent() = default;
  /// Returns expected examples whose latent variables are drawn from the prior; example i depends
  /// only on the seed and i.
  virtual NamedArray sample(std::size_t count, std::uint64_t seed) = 0;
  /// Returns mean and deviation of the latent variable of each example, then the most probable
  /// category of each discrete one, from 1 on, and its probability. (B, 2 d + 2 N)
  virtual NamedArray latent(const NamedArray& examples) = 0;
  virtual NamedArray latent_of_texts(const std::vector<std::string>& texts) = 0;
};

/// Points of the tokens of an example in units of the model, and those whose outputs are the
/// answer.
struct PlacedExample {
  TokenPoints tokens = {};
  std::vector<std::size_t> asked = {};
};

/// Has validation examples in its facts, to inspect the model without its data.
class HasSpecimens {
 public:
  virtual ~HasSpecimens() = default;
  virtual std::size_t specimens() const = 0;
  /// Passes specimen i through the model, for the observers of the tape.
  virtual void forward_specimen(Tape& tape, std::size_t i) = 0;
  /// Returns where the tokens of specimen i are; nothing if they have no place.
  virtual PlacedExample placed_specimen(std::size_t) { return {}; }
};

/// Optional abilities of a learner; null if it lacks them.
struct LearnerAbilities {
  AnswersTables* tables = nullptr;
  AnswersTexts* texts = nullptr;
  WritesText* writes = nullptr;
  HasLatent* latent = nullptr;
  HasSpecimens* specimens = nullptr;
  ForecastsRows* rows = nullptr;
  UsesCalibration* calibrated = nullptr;
};

class Learner {
 public:
  virtual ~Learner() = default;
  virtual Module& model() = 0;
  /// Returns a summary for the user: "lm, 4 blocks, D 128, linear(positive, gaussian, m 64)".
  virtual std::string describe() const = 0;
  /// Returns the bytes of encode_facts().
  virtual std::string facts() const = 0;
  /// Returns the unit of the loss: "nats".
  virtual std::string loss_unit() const { return "nats"; }
  /// Returns sizes that are neither in the config nor in the tensors, for PyTorch: {"length": 128}.
  virtual Json sizes() const;
  /// Returns names of the series that tensors of the model have a row for.
  virtual std::vector<std::string> series() const { return {}; }
  /// Returns the digest of the tokenizer; 0 for bytes and for models without tokens of text.
  virtual std::uint64_t tokenizer_digest() const { return 0; }
  /// Adds pictures of the model that need no examples.
  virtual void illustrate(Page&) {}
  virtual LearnerAbilities abilities() { return {}; }
};

/// Makes the learner of a valid config and of the facts of a checkpoint, with initial weights.
/// Without facts, parameters have the names of a run of this config and sizes of the smallest data.
/// Throws DataError for facts of another kind, and for damaged ones.
std::unique_ptr<Learner> make_learner(const Config& config, const KnownFacts& facts);

}  // namespace bochner

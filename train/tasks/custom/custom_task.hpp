#pragma once
/// Tasks of a program: a model with its own data and loss, named by model.kind.

#include <bochner/base/registry.hpp>
#include <bochner/data/dataset.hpp>
#include <bochner/layers/module.hpp>
#include <string>
#include <utility>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct CustomTaskSpec {
  std::string kind;
  ExampleSet examples;  ///< numbers of examples in data.*; the seed is train.seed
  OwnSpecs own = {};    ///< specs of custom tasks
};
inline void describe(Keys& keys, CustomTaskSpec& spec);

/// A model, the examples that it learns, and its loss. `train`, `resume`, `sweep`, `eval` and
/// `report` run it; set both model.kind and data.kind to its name.
class CustomTask {
 public:
  explicit CustomTask(const CustomTaskSpec& spec) : kind_(spec.kind), examples_(spec.examples) {}
  virtual ~CustomTask() = default;

  virtual Module& model() = 0;
  /// Returns the mean loss of the examples, a function of their numbers, the parameters and the
  /// tape's random numbers. ()
  virtual Var loss(Tape& tape, const Examples& examples) = 0;
  /// Returns means over the examples that evaluations report with the loss, by name.
  virtual std::vector<std::pair<std::string, double>> measures(Tape&, const Examples&) {
    return {};
  }
  /// Returns the unit of the loss: "nats".
  virtual std::string loss_unit() const { return "loss"; }
  /// Describes model and data for the user.
  virtual std::string describe() const { return kind_; }
  /// Returns the same number for equal data: a resumed run refuses others. The default fits
  /// examples that depend on draws() alone; hash what is read from files.
  virtual std::uint64_t fingerprint() const { return examples_.fingerprint(kind_, {}); }
  virtual std::uint64_t tokens_per_example() const { return 1; }

  /// Returns how many examples each split has. Data of files set them in the constructor.
  const ExampleSet& examples() const { return examples_; }
  /// Returns the random numbers of a generated example, equal in every epoch.
  Draws draws(const Examples& examples, std::size_t row) const {
    return draws_of(examples_, examples.split, examples.index(row));
  }

 private:
  std::string kind_;

 protected:
  ExampleSet examples_;
};
using CustomTasks = Registry<CustomTask, CustomTaskSpec>;
/// Registry of tasks that a program adds, named by model.kind and data.kind.
CustomTasks& tasks();

/// Describes the keys of all custom tasks, next to model.kind.
inline void describe(Keys& keys, CustomTaskSpec& spec) { tasks().describe_own(keys, spec.own); }

}  // namespace bochner::inline BOCHNER_PRECISION

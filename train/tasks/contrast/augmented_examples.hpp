#pragma once
/// Data of contrastive learning: raw examples, and two augmented views of each.

#include <bochner/data/labelled/augmentations.hpp>
#include <bochner/train/tasks/contrast/contrast_format.hpp>

namespace bochner {

class AugmentedExamples {
 public:
  virtual ~AugmentedExamples() = default;
  virtual const Dataset& data() const = 0;
  /// Returns facts for make_contrast_format().
  virtual std::string facts() const = 0;
  /// Sets the units of a new model from the data.
  virtual void fit(ContrastModel&, std::uint64_t) const {}
  virtual std::vector<RawExample> read(const ContrastModel& model,
                                       const Examples& examples) const = 0;
  virtual RawExample view(const RawExample& example, Draws draws) const = 0;

  /// Returns the first views of all examples, then the second ones. (2 B)
  std::vector<RawExample> views(const ContrastModel& model, const Examples& examples,
                                ViewPass pass) const;
};

/// Opens the data of a config. Throws DataError.
std::unique_ptr<AugmentedExamples> make_augmented_examples(const Config& config,
                                                           const KnownFacts& known);

}  // namespace bochner

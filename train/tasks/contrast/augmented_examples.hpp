#pragma once
/// The data of contrastive learning: examples as they are, and in two views.

#include <bochner/data/labelled/augmentations.hpp>
#include <bochner/train/tasks/contrast/contrast_format.hpp>

namespace bochner {

class AugmentedExamples {
 public:
  virtual ~AugmentedExamples() = default;
  virtual const Dataset& data() const = 0;
  /// What make_contrast_format() takes.
  virtual std::string facts() const = 0;
  /// Takes what the model keeps of the data from them, in a new model.
  virtual void fit(ContrastModel&, std::uint64_t) const {}
  virtual std::vector<RawExample> read(const ContrastModel& model,
                                       const Examples& examples) const = 0;
  virtual RawExample view(const RawExample& example, Draws draws) const = 0;

  /// First views of all, then the second ones.
  std::vector<RawExample> views(const ContrastModel& model, const Examples& examples,
                                ViewPass pass) const;
};

/// Of what the config says. Throws DataError.
std::unique_ptr<AugmentedExamples> make_augmented_examples(const Config& config,
                                                           const KnownFacts& known);

}  // namespace bochner

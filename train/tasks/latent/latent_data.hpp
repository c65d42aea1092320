#pragma once
/// Training data of models of latent variables.

#include <bochner/data/dataset.hpp>
#include <bochner/layers/models/variational_autoencoder.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>

namespace bochner {

class LatentData {
 public:
  virtual ~LatentData() = default;
  virtual const Dataset& data() const = 0;
  /// Returns facts for make_latent_format().
  virtual std::string facts() const = 0;
  /// Sets the unit of the training data in a model, if they have one.
  virtual void fit(VariationalAutoencoder&) const {}
  virtual Observed batch(const Examples& examples, const VariationalAutoencoder& model) const = 0;
};

std::unique_ptr<LatentData> latent_images(const Config& config, const KnownFacts& known);
std::unique_ptr<LatentData> latent_series(const Config& config, const KnownFacts& known);
std::unique_ptr<LatentData> latent_texts(const Config& config, const KnownFacts& known);
std::unique_ptr<LatentData> make_latent_data(const Config& config, const KnownFacts& known);

}  // namespace bochner

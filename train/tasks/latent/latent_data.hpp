#pragma once
/// What a model of latent variables learns from: images, windows of a series, or of a text.

#include <bochner/data/dataset.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/vocabularies.hpp>
#include <bochner/layers/models/variational_autoencoder.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

class Page;

class LatentData {
 public:
  virtual ~LatentData() = default;
  virtual const Dataset& data() const = 0;
  /// Says of a model what its examples are.
  virtual void complete(VaeSpec& spec) const = 0;
  /// Gives a model the unit of the training data, where they have one.
  virtual void fit(VariationalAutoencoder&) const {}
  virtual Observed batch(const Examples& examples, const VariationalAutoencoder& model) const = 0;
  /// Examples of a table, or of texts, of the user's; by default they throw std::invalid_argument.
  virtual Observed read(const NamedArray& input, const VariationalAutoencoder& model) const;
  virtual Observed read_texts(const std::vector<std::string>& texts) const;
  virtual Vocabularies names() const { return {}; }
  /// Columns that read() takes, none for all.
  virtual std::vector<std::string> columns() const { return {}; }
  /// The mean of examples given what decode() says of them, as read() takes examples; of symbols
  /// the most probable ones, as a column of texts. (B, T, n)
  virtual NamedArray expected(const Tensor& decoded, const VariationalAutoencoder& model) const = 0;
  /// Draws examples beside what is expected of them, and samples.
  virtual void draw(Page& page, const NamedArray& seen, const NamedArray& expected,
                    const NamedArray& samples) const = 0;
  /// The examples as expected() has them.
  virtual NamedArray as_array(const Observed& examples,
                              const VariationalAutoencoder& model) const = 0;
};

/// Pixels of 0 or 1 in square patches (data.kind "images" or "shapes"); windows of data.lookback
/// rows in tokens of some rows of all variates ("series"); windows of the bytes of a text
/// ("bytes").
std::unique_ptr<LatentData> latent_images(const Config& config);
std::unique_ptr<LatentData> latent_series(const Config& config);
std::unique_ptr<LatentData> latent_texts(const Config& config);
std::unique_ptr<LatentData> make_latent_data(const Config& config);

}  // namespace bochner

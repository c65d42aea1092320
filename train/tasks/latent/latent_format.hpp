#pragma once
/// Formats and training data of models of latent variables: images, windows of a series or of a
/// text.

#include <bochner/data/dataset.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/layers/models/variational_autoencoder.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <stdexcept>

namespace bochner {

class Page;

/// Reads and writes examples by the facts of the data.
class LatentFormat {
 public:
  virtual ~LatentFormat() = default;
  virtual std::string facts() const = 0;
  /// Sets the sizes of a model for these examples.
  virtual void complete(VaeSpec& spec) const = 0;
  virtual bool reads_texts() const { return false; }
  virtual ReadOptions read_options() const { return {}; }
  /// Returns the columns that read() needs, none for all.
  virtual std::vector<std::string> columns() const { return {}; }
  /// Read the user's examples from a table or from texts; by default throw std::invalid_argument.
  virtual Observed read(const NamedArray&, const VariationalAutoencoder&) const {
    throw std::invalid_argument(
        "this model was trained on texts and cannot read tables; give texts");
  }
  virtual Observed read_texts(const std::vector<std::string>&) const {
    throw std::invalid_argument(
        "this model was trained on a table or on images and cannot read texts; give such a file");
  }
  /// Returns the mean of examples given the output of decode() (B, T, n), in the form that read()
  /// takes, followed by deviations that depend on z; for symbols the most probable ones, as a
  /// column of texts.
  virtual NamedArray expected(const Tensor& decoded, const VariationalAutoencoder& model) const = 0;
  /// Returns examples in the form of expected().
  virtual NamedArray as_array(const Observed& examples,
                              const VariationalAutoencoder& model) const = 0;
  /// Draws examples next to their expected values, and samples.
  virtual void draw(Page& page, const NamedArray& seen, const NamedArray& expected,
                    const NamedArray& samples) const = 0;
  /// Draws the expected examples of the categories of discrete variables.
  virtual void draw_categories(Page& page, const NamedArray& expected,
                               const std::vector<std::string>& names) const = 0;
  virtual std::size_t specimens() const = 0;
  virtual Observed specimen(std::size_t i, const VariationalAutoencoder& model) const = 0;
};

class LatentData {
 public:
  virtual ~LatentData() = default;
  virtual const Dataset& data() const = 0;
  /// Returns facts for the format of the same kind.
  virtual std::string facts() const = 0;
  /// Sets the unit of the training data in a model, if they have one.
  virtual void fit(VariationalAutoencoder&) const {}
  virtual Observed batch(const Examples& examples, const VariationalAutoencoder& model) const = 0;
};

/// Make the formats of data.kind: binary pixels in square patches ("images" or "shapes"), windows
/// of data.lookback rows in tokens of some rows of all variates ("series"), and windows of the
/// bytes of a text ("bytes"). Without facts, for the smallest data.
using MakeLatentFormat = std::unique_ptr<LatentFormat>(const Config&, const KnownFacts& facts);
MakeLatentFormat latent_image_format, latent_series_format, latent_text_format;
/// Open the data of these formats.
using OpenLatentData = std::unique_ptr<LatentData>(const Config&, const KnownFacts& known);
OpenLatentData latent_images, latent_series, latent_texts;

}  // namespace bochner

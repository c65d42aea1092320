#pragma once
/// Formats of examples of models of latent variables: images, windows of a series or of a text.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/layers/models/variational_autoencoder.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>

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
  virtual Observed read(const NamedArray& input, const VariationalAutoencoder& model) const;
  virtual Observed read_texts(const std::vector<std::string>& texts) const;
  /// Returns the mean of examples given the output of decode() (B, T, n), in the form that read()
  /// takes; for symbols the most probable ones, as a column of texts.
  virtual NamedArray expected(const Tensor& decoded, const VariationalAutoencoder& model) const = 0;
  /// Returns examples in the form of expected().
  virtual NamedArray as_array(const Observed& examples,
                              const VariationalAutoencoder& model) const = 0;
  /// Draws examples next to their expected values, and samples.
  virtual void draw(Page& page, const NamedArray& seen, const NamedArray& expected,
                    const NamedArray& samples) const = 0;
  virtual std::size_t specimens() const = 0;
  virtual Observed specimen(std::size_t i, const VariationalAutoencoder& model) const = 0;
};

/// Make the formats of data.kind: binary pixels in square patches ("images" or "shapes"), windows
/// of data.lookback rows in tokens of some rows of all variates ("series"), and windows of the
/// bytes of a text ("bytes"). Without facts, for the smallest data.
std::unique_ptr<LatentFormat> latent_image_format(const Config& config, const KnownFacts& facts);
std::unique_ptr<LatentFormat> latent_series_format(const Config& config, const KnownFacts& facts);
std::unique_ptr<LatentFormat> latent_text_format(const Config& config, const KnownFacts& facts);
std::unique_ptr<LatentFormat> make_latent_format(const Config& config, const KnownFacts& facts);

}  // namespace bochner

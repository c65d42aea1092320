#pragma once
/// The form of the examples of a model of latent variables: images, windows of a series, or of a
/// text.

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
  /// The bytes of encode_facts().
  virtual std::string facts() const = 0;
  /// Sets what the sizes of a model are for these examples.
  virtual void complete(VaeSpec& spec) const = 0;
  virtual bool reads_texts() const { return false; }
  virtual ReadOptions read_options() const { return {}; }
  /// Columns that read() takes, none for all.
  virtual std::vector<std::string> columns() const { return {}; }
  /// Examples of a table, or of texts, of the user's; by default they throw std::invalid_argument.
  virtual Observed read(const NamedArray& input, const VariationalAutoencoder& model) const;
  virtual Observed read_texts(const std::vector<std::string>& texts) const;
  /// The mean of examples given the output of decode(), as read() takes examples; of symbols
  /// the most probable ones, as a column of texts. (B, T, n)
  virtual NamedArray expected(const Tensor& decoded, const VariationalAutoencoder& model) const = 0;
  /// The examples as expected() has them.
  virtual NamedArray as_array(const Observed& examples,
                              const VariationalAutoencoder& model) const = 0;
  /// Draws examples beside what is expected of them, and samples.
  virtual void draw(Page& page, const NamedArray& seen, const NamedArray& expected,
                    const NamedArray& samples) const = 0;
  virtual std::size_t specimens() const = 0;
  virtual Observed specimen(std::size_t i, const VariationalAutoencoder& model) const = 0;
};

/// Pixels of 0 or 1 in square patches (data.kind "images" or "shapes"); windows of data.lookback
/// rows in tokens of some rows of all variates ("series"); windows of the bytes of a text
/// ("bytes"). Without facts, of the smallest data.
std::unique_ptr<LatentFormat> latent_image_format(const Config& config, const KnownFacts& facts);
std::unique_ptr<LatentFormat> latent_series_format(const Config& config, const KnownFacts& facts);
std::unique_ptr<LatentFormat> latent_text_format(const Config& config, const KnownFacts& facts);
std::unique_ptr<LatentFormat> make_latent_format(const Config& config, const KnownFacts& facts);

}  // namespace bochner

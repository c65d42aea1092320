#include <bochner/train/tasks/latent/latent_data.hpp>
#include <bochner/train/tasks/latent/latent_format.hpp>
#include <stdexcept>

namespace bochner {

Observed LatentFormat::read(const NamedArray&, const VariationalAutoencoder&) const {
  throw std::invalid_argument("this model was trained on texts and cannot read tables; give texts");
}

Observed LatentFormat::read_texts(const std::vector<std::string>&) const {
  throw std::invalid_argument(
      "this model was trained on a table or on images and cannot read texts; give such a file");
}

std::unique_ptr<LatentFormat> make_latent_format(const Config& config, const KnownFacts& facts) {
  const std::string& kind = config.text("data.kind");
  if (kind == "series") return latent_series_format(config, facts);
  if (kind == "bytes") return latent_text_format(config, facts);
  return latent_image_format(config, facts);
}

std::unique_ptr<LatentData> make_latent_data(const Config& config, const KnownFacts& known) {
  const std::string& kind = config.text("data.kind");
  if (kind == "series") return latent_series(config, known);
  if (kind == "bytes") return latent_texts(config, known);
  return latent_images(config, known);
}

}  // namespace bochner

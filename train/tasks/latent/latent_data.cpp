#include <bochner/train/tasks/latent/latent_data.hpp>
#include <stdexcept>

namespace bochner {

Observed LatentData::read(const NamedArray&, const VariationalAutoencoder&) const {
  throw std::invalid_argument("this model reads no tables; it learned from a text");
}

Observed LatentData::read_texts(const std::vector<std::string>&) const {
  throw std::invalid_argument("this model reads no texts; it learned from a table or from images");
}

std::unique_ptr<LatentData> make_latent_data(const Config& config) {
  const std::string& kind = config.text("data.kind");
  if (kind == "series") return latent_series(config);
  if (kind == "bytes") return latent_texts(config);
  return latent_images(config);
}

}  // namespace bochner

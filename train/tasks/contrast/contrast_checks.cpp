#include <bochner/train/tasks/contrast/contrast_checks.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <cmath>

namespace bochner {

void check_contrast(const Config& config) {
  if (config.text("data.kind") == "series") {
    check_series(config);
    require_at_most(config, "model.patch.length", "data.lookback");
  }
  if (config.text("model.positions") == "encoding")
    fail(config, "model.positions", "must not be \"encoding\" for a contrastive model",
         "model.kind");
  if (config.integer("train.batch") < 2)
    fail(config, "train.batch", "must be at least 2: negatives come from the batch");
  if (config.integer("train.shards") > 1)
    fail(config, "train.shards",
         "must be 1 for a contrastive model: negatives come from the whole batch", "model.kind");
  if (config.text("model.contrast.kind") != "prototypes") return;
  const std::vector<double>& clusters = config.number_list("model.contrast.clusters");
  if (clusters.empty()) fail(config, "model.contrast.clusters", "must not be empty");
  for (const double number : clusters)
    if (number != std::floor(number))
      fail(config, "model.contrast.clusters", "must be whole numbers");
}

}  // namespace bochner

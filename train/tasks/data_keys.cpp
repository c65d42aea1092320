#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/fields.hpp>
#include <bochner/data/token_tasks.hpp>
#include <bochner/train/tasks/data_keys.hpp>

namespace bochner {
namespace {

const std::vector<HeededBy>& keys_by_kind() {
  const char *data = "data.kind", *model = "model.kind";
  std::vector<std::string> grids = field_kinds();
  grids.push_back("field_files");
  static const std::vector<HeededBy> table{
      {data,
       {"series"},
       {"data.splits", "data.lookback", "data.horizon", "data.stride", "data.drop", "data.pause",
        "data.series", "data.known", "data.static", "data.calendar"}},
      {data, {"series", "sensors"}, {"data.columns"}},
      {data,
       {"series", "event_files", "sensors", "table"},
       {"data.time_column", "data.time_format"}},
      {data, {"series", "sensors", "table"}, {"data.missing"}},
      {data, {"event_files"}, {"data.type_column", "data.sequence_column", "data.names.types"}},
      {data, {"event_files", "texts"}, {"data.label_column", "data.names.labels"}},
      {data, {"series"}, {"data.names.series", "data.names.levels", "data.names.time"}},
      {data, {"series", "sensors", "table"}, {"data.names.columns"}},
      {data, {"texts"}, {"data.text_column"}},
      {data, {"bytes", "texts"}, {"data.tokenizer"}},
      {"data.tokenizer.kind",
       {"sentencepiece"},
       {"data.tokenizer.model", "data.tokenizer.digest", "data.tokenizer.cache"}},
      {data, {"hawkes"}, {"data.types", "data.excitation", "data.branching", "data.lag"}},
      {data, {"listops"}, {"data.shortest", "data.depth", "data.arguments"}},
      {data, {"images"}, {"data.validation_files", "data.grey"}},
      {data, {"shapes"}, {"data.side"}},
      {data, token_task_kinds(), {"data.vocabulary", "data.items", "data.targets"}},
      {data, grids, {"data.frames", "data.height", "data.width"}},
      {data, field_kinds(), {"data.components", "data.speed", "data.noise"}},
      {data, {"advection_diffusion"}, {"data.diffusivity"}},
      {data,
       {"bytes", "texts", "images", "event_files", "field_files", "sensors", "table"},
       {"data.validation"}},
      {model, {"classifier"}, {"model.pooling"}},
      {model, {"events"}, {"model.intensity"}},
      {model, {"vae"}, {"model.vae"}},
      {model, {"forecaster", "contrastive"}, {"data.series"}},
      {data, {"images", "shapes"}, {"model.vae.binarise"}},
      {model, {"contrastive"}, {"model.contrast", "data.views"}},
      {"model.contrast.kind",
       {"prototypes"},
       {"model.contrast.clusters", "model.contrast.start", "model.contrast.rounds"}},
      {data,
       {"images", "shapes"},
       {"data.views.shift", "data.views.rotate", "data.views.shear", "data.views.erase"}},
      {data, {"images", "shapes", "series"}, {"data.views.scale", "data.views.noise"}},
      {data, {"series", "event_files"}, {"data.views.crop"}},
      {data, {"series"}, {"data.views.warp"}},
      {data, {"event_files"}, {"data.views.drop", "data.views.gaps"}},
      {model,
       {"forecaster"},
       {"model.backbone", "model.moving_average", "model.per_variate", "model.instance_norm",
        "model.effects", "model.series_width", "model.head_dropout", "data.horizon", "data.known",
        "data.static", "data.calendar"}},
      {"model.backbone", {"linear"}, {"model.moving_average", "model.per_variate"}},
      {"model.backbone", {"attention"}, {"model.head_dropout"}},
      {"model.loss", {"quantile"}, {"model.quantiles"}},
      {"model.loss", {"nce", "sampled_softmax"}, {"model.noise"}},
      {"model.noise.kind", {"unigram"}, {"model.noise.power"}},
      {"optim.kind", {"natural"}, {"optim.natural"}},
      {"optim.kind", {"sgd"}, {"optim.momentum", "optim.nesterov"}},
      {"optim.kind", {"adam", "adamw", "natural"}, {"optim.betas", "optim.epsilon"}},
      {"optim.kind", {"langevin", "natural"}, {"optim.temperature"}},
      {"optim.schedule.kind",
       {"cosine", "linear", "inverse_sqrt", "wsd"},
       {"optim.schedule.floor"}},
      {"optim.schedule.kind", {"wsd"}, {"optim.schedule.decay"}}};
  return table;
}

/// The loss of a model of tokens, or of a forecaster, beside a model that has neither.
UnheededSections loss_of_others(const Config& config) {
  const std::string &loss = config.text("model.loss"), &model = config.text("model.kind");
  const bool of_tokens = loss == "cross_entropy" || loss == "nce" || loss == "sampled_softmax";
  const std::string needed = of_tokens ? "lm" : "forecaster";
  if (model == needed) return {};
  return {{"model.loss"}, needs_value("model.kind", {needed}), "model.kind"};
}

/// The floor of a schedule that never comes down to it.
UnheededSections floor_without_decay(const Config& config) {
  const char *kind = "optim.schedule.kind", *decay = "optim.schedule.decay";
  if (config.text(kind) != "wsd" || config.integer(decay) > 0) return {};
  return {{"optim.schedule.floor"}, fmt::format("needs {} greater than 0", decay), kind};
}

}  // namespace

std::vector<UnheededKey> keys_of_other_data(const Config& config) {
  std::vector<UnheededSections> others{loss_of_others(config), floor_without_decay(config)};
  for (const auto& [choice, values, sections] : keys_by_kind())
    if (std::ranges::count(values, config.text(choice)) == 0)
      others.push_back({sections, needs_value(choice, values), choice});
  return changed_keys(config, others);
}

}  // namespace bochner

#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/fields/fields.hpp>
#include <bochner/data/text/token_tasks.hpp>
#include <bochner/train/tasks/data_keys.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <iterator>

namespace bochner {
namespace {

std::vector<KeyCondition> uses_of_tables(const Config& config) {
  const std::string &method = config.text("model.gp.method"), &data = config.text("data.kind");
  const bool drawn = method == "features" || config.text("model.gp.density.kind") == "free";
  return {
      {{"model.gp"}, config.text("model.kind") == "gp", "needs model.kind = \"gp\""},
      {{"model.gp.cg"}, method == "cg", "needs model.gp.method = \"cg\""},
      {{"model.gp.m", "model.gp.draws"},
       drawn,
       "needs model.gp.method = \"features\" or a free density"},
      {{"model.gp.density.posterior"},
       false,
       "is for other models: a process has no batches to draw it for; set model.gp.density.prior"},
      {{"model.gp.noise_shape"}, method == "features", "needs model.gp.method = \"features\""},
      {{"data.columns"},
       data == "series" || data == "sensors",
       data == "table" ? "is not for a table: name data.inputs and data.target"
                       : needs_value("data.kind", {"series", "sensors"}),
       "data.kind"},
      {{"data.inputs", "data.target", "data.held_out", "data.rows"},
       data == "table",
       "needs data.kind = \"table\""}};
}

std::vector<KeyCondition> uses_of_times(const Config& config) {
  const std::string& kind = config.text("model.time.kind");
  const std::string key = "model.time.kind";
  return {{{"model.time"}, kind != "none", "needs " + key + " other than \"none\"", key},
          {{"model.time.degree"},
           kind.starts_with("mercer"),
           needs_value(key, {"mercer", "mercer_summed"}),
           key},
          applies_when(config, key, {"mercer"}, {"model.time.paired"})};
}

}  // namespace

std::vector<KeyCondition> uses_of_models(const Config& config) {
  const std::string &model = config.text("model.kind"), &data = config.text("data.kind");
  const bool encoded = config.text("model.positions") == "encoding";
  const bool sensors = data == "sensors", field = model == "field" && !sensors;
  const bool events = data == "event_files" && model == "events";
  const bool placed = events && !config.text_list("data.place_columns").empty();
  const bool recall = data == "multi_query_recall";
  const bool sequences = std::ranges::count(token_task_kinds(), data) > 0;
  const std::string kernel = "model.mixer.time_kernel.";
  std::vector<KeyCondition> uses = {
      {{"model.encoding"},
       model == "field" || encoded || placed,
       "needs model.kind = \"field\", model.positions = \"encoding\", or events with places"},
      {{"model.positions"},
       model != "field" || config.text("model.positions") == "none",
       "is for tokens in an order, and those of a field have none: see model.encoding",
       "model.kind"},
      {{"data.separator"},
       data == "bytes" && encoded,
       "needs data.kind = \"bytes\" and model.positions = \"encoding\""},
      {{"data.buckets"},
       data == "listops" || (data == "event_files" && model == "classifier"),
       "needs a classifier of sequences that differ in length: data.kind = \"listops\" or "
       "\"event_files\""},
      {{"data.validation_length"},
       sequences,
       "needs generated sequences with questions: data.kind = " + alternatives(token_task_kinds())},
      {{"data.gap_power", "data.filler"}, recall, "needs data.kind = \"multi_query_recall\""},
      {{"data.test_examples"}, !reads_files(config), "needs generated data"},
      {{"model.norm_momentum"},
       config.text("model.norm") == "batch",
       "needs model.norm = \"batch\""},
      {{kernel + "rank"},
       config.text(kernel + "kind") == "gate" && config.text(kernel + "per") == "channel",
       "needs " + kernel + "kind = \"gate\" and " + kernel + "per = \"channel\""},
      {{"data.dimensions", "data.planes"}, field, "needs a field on a grid"},
      {{"data.place_columns"},
       sensors || events,
       "needs data.kind = \"sensors\", or model.kind = \"events\" of files"},
      {{"data.ask", "data.asked"}, sensors, "needs data.kind = \"sensors\""}};
  for (const auto& more : {uses_of_tables, uses_of_times})
    std::ranges::move(more(config), std::back_inserter(uses));
  return uses;
}

std::vector<KeyCondition> uses_of_data(const Config& config) {
  const char *data = "data.kind", *model = "model.kind";
  const std::string& loss = config.text("model.loss");
  const bool of_tokens = loss == "cross_entropy" || loss == "nce" || loss == "sampled_softmax";
  std::vector<std::string> grids = field_kinds();
  grids.push_back("field_files");
  const auto by = [&](const char* choice, const std::vector<std::string>& values,
                      std::vector<std::string> sections) {
    return applies_when(config, choice, values, std::move(sections));
  };
  return {
      by(model, {of_tokens ? "lm" : "forecaster"}, {"model.loss"}),
      by(data, {"series"},
         {"data.splits", "data.lookback", "data.horizon", "data.stride", "data.drop", "data.pause",
          "data.series", "data.known", "data.static", "data.calendar"}),
      by(data, {"series", "event_files", "sensors", "table"},
         {"data.time_column", "data.time_format"}),
      by(data, {"series", "sensors", "table"}, {"data.missing"}),
      by(data, {"event_files"}, {"data.type_column", "data.sequence_column", "data.names.types"}),
      by(data, {"event_files", "texts"}, {"data.label_column", "data.names.labels"}),
      by(data, {"series"}, {"data.names.series", "data.names.levels", "data.names.time"}),
      by(data, {"series", "sensors", "table"}, {"data.names.columns"}),
      by(data, {"texts"}, {"data.text_column"}),
      by(data, {"bytes", "texts"}, {"data.tokenizer"}),
      by("data.tokenizer.kind", {"sentencepiece"},
         {"data.tokenizer.model", "data.tokenizer.cache"}),
      by(data, {"hawkes"}, {"data.types", "data.excitation", "data.branching", "data.lag"}),
      by(data, {"listops"}, {"data.shortest", "data.depth", "data.arguments"}),
      by(data, {"images"}, {"data.validation_files", "data.grey"}),
      by(data, {"shapes"}, {"data.side"}),
      by(data, token_task_kinds(), {"data.vocabulary", "data.items", "data.targets"}),
      by(data, grids, {"data.frames", "data.height", "data.width"}),
      by(data, field_kinds(), {"data.components", "data.speed", "data.noise"}),
      by(data, {"advection_diffusion"}, {"data.diffusivity"}),
      by(data, {"bytes", "texts", "images", "event_files", "field_files", "sensors", "table"},
         {"data.validation"}),
      by(model, {"classifier"}, {"model.pooling"}),
      by(model, {"events"}, {"model.intensity"}),
      by(model, {"vae"}, {"model.vae"}),
      by(model, {"forecaster", "contrastive"}, {"data.series"}),
      by(data, {"images", "shapes"}, {"model.vae.binarise"}),
      by(model, {"contrastive"}, {"model.contrast", "data.views"}),
      by("model.contrast.kind", {"prototypes"},
         {"model.contrast.clusters", "model.contrast.start", "model.contrast.rounds"}),
      by(data, {"images", "shapes"},
         {"data.views.shift", "data.views.rotate", "data.views.shear", "data.views.erase"}),
      by(data, {"images", "shapes", "series"}, {"data.views.scale", "data.views.noise"}),
      by(data, {"series", "event_files"}, {"data.views.crop"}),
      by(data, {"series"}, {"data.views.warp"}),
      by(data, {"event_files"}, {"data.views.drop", "data.views.gaps"}),
      by(model, {"forecaster"},
         {"model.backbone", "model.moving_average", "model.per_variate", "model.instance_norm",
          "model.effects", "model.series_width", "model.head_dropout", "data.horizon", "data.known",
          "data.static", "data.calendar"}),
      by("model.backbone", {"linear"}, {"model.moving_average", "model.per_variate"}),
      by("model.backbone", {"attention"}, {"model.head_dropout"}),
      by("model.loss", {"quantile"}, {"model.quantiles"}),
      by("model.loss", {"nce", "sampled_softmax"}, {"model.noise"}),
      by("model.noise.kind", {"unigram"}, {"model.noise.power"})};
}

std::vector<KeyCondition> uses_of_patches(const Config& config) {
  const std::string &model = config.text("model.kind"), &data = config.text("data.kind");
  const bool series = data == "series", images = data == "images" || data == "shapes";
  const bool attention = model == "forecaster" && config.text("model.backbone") == "attention";
  const bool latent = model == "vae", contrastive = model == "contrastive";
  const bool forecaster = model == "forecaster" && !config.is_set("model.kind");
  const std::string of_series = forecaster ? "model.backbone" : series ? "model.kind" : "data.kind";
  return {
      {{"model.patch.length"},
       attention || (series && (latent || contrastive)),
       "needs patches of a series: model.backbone = \"attention\", or model.kind = \"vae\" or "
       "\"contrastive\"",
       of_series},
      {{"model.patch.stride"},
       attention || (series && contrastive),
       "needs patches of a series that may overlap: model.backbone = \"attention\", or "
       "model.kind = \"contrastive\"",
       of_series},
      {{"model.patch.pixels"},
       model == "field" || (images && (latent || contrastive)),
       "needs patches of images: model.kind = \"field\", or \"vae\" or \"contrastive\" of images "
       "or shapes",
       images ? "model.kind" : "data.kind"}};
}

std::vector<KeyCondition> uses_of_training(const Config& config) {
  const auto by = [&](const char* choice, const std::vector<std::string>& values,
                      std::vector<std::string> sections) {
    return applies_when(config, choice, values, std::move(sections));
  };
  const std::string gradients = "train.validate.gradients", kernels = "train.validate.kernels",
                    schedule = "optim.schedule.kind", decay = "optim.schedule.decay";
  return {
      {{"optim.schedule.floor"},
       config.text(schedule) != "wsd" || config.integer(decay) > 0,
       fmt::format("needs {} greater than 0", decay),
       schedule},
      by("optim.kind", {"natural"}, {"optim.natural"}),
      by("optim.kind", {"sgd"}, {"optim.momentum", "optim.nesterov"}),
      by("optim.kind", {"adam", "adamw", "natural"}, {"optim.betas", "optim.epsilon"}),
      by("optim.kind", {"langevin", "natural"}, {"optim.temperature"}),
      by("optim.schedule.kind", {"cosine", "linear", "inverse_sqrt", "wsd"},
         {"optim.schedule.floor"}),
      by("optim.schedule.kind", {"wsd"}, {"optim.schedule.decay"}),
      {{gradients}, config.flag(kernels), fmt::format("needs {} = true", kernels), kernels, true},
      {{gradients},
       !config.flag("train.overfit"),
       "needs train.overfit = false: a single batch has no noise",
       "train.overfit",
       true}};
}

}  // namespace bochner

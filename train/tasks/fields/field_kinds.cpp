#include <fmt/format.h>

#include <bochner/data/fields/fields.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/fields/field_kinds.hpp>
#include <bochner/train/tasks/fields/field_learner.hpp>
#include <bochner/train/tasks/fields/sensor_learner.hpp>
#include <bochner/train/tasks/series/series_data.hpp>

namespace bochner {
namespace {

/// Checks data.planes, data.height and data.width; sizes of films are checked when they are read.
void check_sides(const Config& config) {
  const auto spec = read_spec<FieldSpec>(config, "data");
  const std::vector<std::string> keys{"data.planes", "data.height", "data.width"};
  const std::size_t none = keys.size() - spec.dimensions;
  if (reads_films(config)) return;
  for (std::size_t j = none; j < keys.size(); ++j) {
    const std::size_t side = spec.sides()[j - none];
    if (side < 3) fail(config, keys[j], "must be at least 3");
    if (side % config.count("model.patch.pixels") != 0)
      fail(config, "model.patch.pixels", fmt::format("must divide {} = {}", keys[j], side),
           keys[j]);
  }
}

void check_no_order(const Config& config) {
  if (config.text("model.mixer.time_kernel.kind") != "none")
    fail(config, "model.mixer.time_kernel.kind",
         "must be \"none\": tokens of a field have no order");
  if (config.integer("model.mixer.directions") == 1)
    fail(config, "model.mixer.directions", "must not be 1: tokens of a field have no order");
}

void check_field(const Config& config) {
  check_sides(config);
  check_encoding(config, config.integer("data.dimensions"));
  check_no_order(config);
}

void check_sensors(const Config& config) {
  const std::size_t dimensions = config.text_list("data.place_columns").size();
  if (dimensions < 1 || dimensions > 3)
    fail(config, "data.place_columns", "must name one to three columns of coordinates",
         "data.kind");
  if (config.integer("data.length") < 2) fail(config, "data.length", "must be at least 2");
  check_encoding(config, std::int64_t(dimensions));
  check_no_order(config);
}

/// Returns how to read the table: all of its columns if none with values are named.
ReadOptions sensor_options(const Config& config) {
  const SensorColumns columns = sensor_columns(config);
  std::vector<std::string> all{columns.time};
  for (const auto* some : {&columns.places, &columns.values})
    all.insert(all.end(), some->begin(), some->end());
  if (columns.values.empty()) all.clear();
  CsvOptions csv = only_columns(config, columns.time, all);
  csv.missing = "nan";
  return {csv, ""};
}

/// Returns the learner of the facts; without facts, for films of four patches a side.
std::unique_ptr<Learner> field_learner(const Config& config, const KnownFacts& facts) {
  FieldFacts known = facts.of<FieldFacts>();
  if (facts.bytes.empty()) {
    known.frames = config.count("data.frames");
    known.sides.assign(config.count("data.dimensions"), 4 * config.count("model.patch.pixels"));
  }
  return std::make_unique<FieldLearner>(config, std::move(known));
}

std::unique_ptr<Learner> sensor_learner(const Config& config, const KnownFacts& facts) {
  SensorFacts known = facts.of<SensorFacts>();
  if (facts.bytes.empty()) {
    known.dimensions = sensor_columns(config).places.size();
    known.length = config.count("data.length");
  }
  return std::make_unique<SensorLearner>(config, std::move(known));
}

}  // namespace

const char field_template[] =
    R"(# The next frame of fields in NPY files: (frames, height, width), or several films
# (films, frames, height, width) or (films, frames, height, width, components).
# See docs/space-time.md.

[model]
kind = "field"
blocks = 2
width = 32
patch.pixels = 2              # a token is 2 x 2 pixels

[model.encoding]
kind = "fused"                # a learned projection of space and time
space = 32
time = 32

[model.mixer]
kind = "softmax"
heads = 4

[data]
kind = "field_files"
files = [{files}]
frames = 4                    # input frames
validation = 0.1              # of the films, or the end of a single one

[optim]
lr = 3e-3
schedule.kind = "cosine"
schedule.warmup = 50
clip = 1.0

[train]
batch = 16
steps = 1000
validate.every = 250
)";

void add_field_kinds(TaskKinds& kinds) {
  const auto add = [&](const std::string& data, const char* validation) {
    kinds.push_back({.data = data,
                     .model = "field",
                     .open = open_field_task,
                     .learn = field_learner,
                     .validation = validation,
                     .check = check_field,
                     .read = series_options});
  };
  for (const std::string& name : field_kinds()) add(name, validation_examples);
  add("field_files", validation_fraction);
  kinds.push_back({.data = "sensors",
                   .model = "field",
                   .open = open_sensor_task,
                   .learn = sensor_learner,
                   .validation = validation_fraction,
                   .check = check_sensors,
                   .read = sensor_options});
}

}  // namespace bochner

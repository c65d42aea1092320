#include <fmt/format.h>

#include <bochner/base/errors.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/fields/field_data.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

/// Throws DataError unless frames (B, T, sides..) and the next ones (B, sides..) have the known
/// size.
void check_specimen(const FieldBatch& batch, const FieldSize& size) {
  const std::size_t B = batch.next.shape().empty() ? 0 : batch.next.shape()[0];
  Shape next{B}, frames{B, size.frames};
  for (Shape* shape : {&next, &frames})
    shape->insert(shape->end(), size.sides.begin(), size.sides.end());
  if (B == 0 || batch.next.shape() != next || batch.frames.shape() != frames)
    throw DataError("facts of fields hold an example of other sizes");
}

/// Returns the size keys of the last data.dimensions axes.
std::vector<std::string> side_keys(const Config& config) {
  std::vector<std::string> keys{"data.planes", "data.height", "data.width"};
  keys.erase(keys.begin(), keys.end() - config.integer("data.dimensions"));
  return keys;
}

/// Throws DataError unless a size key is 0 or the side of the films, and patches divide that side.
void require_side(const Config& config, const std::string& key, std::size_t side) {
  const std::size_t wanted = config.count(key), patch = config.count("model.patch.pixels");
  if (wanted != side && wanted != 0)
    throw DataError(key, " = ", wanted, ": the films have ", side, "; remove the key");
  if (side % patch != 0)
    throw DataError("model.patch.pixels = ", patch, ": must divide ", key, " = ", side,
                    " of the films");
}

OpenedFields open_films(const Config& config) {
  const FieldFilesSpec spec{config.count("data.frames"), config.count("data.dimensions"),
                            config.number("data.validation"), config.count("train.seed"),
                            config.count("model.patch.pixels")};
  auto films = std::make_unique<FieldFiles>(data_files(config), spec);
  const std::vector<std::string> keys = side_keys(config);
  for (std::size_t j = 0; j < keys.size(); ++j)
    require_side(config, keys[j], films->size().sides[j]);
  const Moments unit = films->moments();
  return {std::move(films), unit};
}

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

}  // namespace

void FieldFacts::check() const {
  std::uint64_t numbers = frames;
  require_size("frames of a field", frames, 1 << 16);
  require_size("dimensions of a field", sides.size(), 3);
  for (const std::uint64_t side : sides) {
    require_size("pixels along an axis of a field", side, 1 << 20);
    require_size("numbers of a field", numbers *= side, std::uint64_t(1) << 32);
  }
  for (const FieldBatch& batch : specimens) check_specimen(batch, size());
}

OpenedFields open_fields(const Config& config) {
  if (reads_films(config)) return open_films(config);
  auto spec = read_spec<FieldSpec>(config, "data");  // a size of 0 means the default of FieldSpec
  spec.kind = config.text("data.kind");
  spec.patch = config.count("model.patch.pixels");
  return {std::make_unique<Fields>(spec, example_set(config))};
}

FieldFacts field_facts(const FieldSource& data, const KnownFacts& known) {
  const FieldSize size = data.size();
  FieldFacts facts{size.frames, {size.sides.begin(), size.sides.end()}, {}};
  if (!known.are_exact()) {
    facts.specimens = take_specimens(data, size.frames * size.pixels());
    return facts;
  }
  FieldFacts learned = known.of<FieldFacts>();
  if (learned.frames != facts.frames || learned.sides != facts.sides)
    throw DataError("the data have ", size.frames, " frames of ", size.text(),
                    "; the model was trained on ", learned.frames, " of ", learned.size().text());
  return learned;
}

FieldFacts assumed_field_facts(const Config& config) {
  const std::size_t side = 4 * config.count("model.patch.pixels");
  return {config.count("data.frames"),
          std::vector<std::uint64_t>(config.count("data.dimensions"), side),
          {}};
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

}  // namespace bochner

#include <fmt/format.h>

#include <bochner/train/config/config_fail.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/field_task.hpp>

namespace bochner {
namespace {

void check_side(const Config& config, const char* key, std::size_t side) {
  if (side < 3) fail(config, key, "must be at least 3");
  if (side % config.count("model.patch.pixels") != 0)
    fail(config, "model.patch.pixels", fmt::format("must divide {} = {}", key, side), key);
}

/// Those of films are known later.
void check_sides(const Config& config) {
  const FieldSpec spec = field_spec(config);
  check_side(config, "data.height", spec.height);
  check_side(config, "data.width", spec.width);
}

void check_encoding(const Config& config) {
  const std::string& kind = config.text("model.encoding.kind");
  const bool geometric = config.text("model.encoding.frequencies") == "geometric";
  const std::int64_t width = config.integer("model.width");
  const std::int64_t beside =
      2 * (config.integer("model.encoding.space") + config.integer("model.encoding.time"));
  const std::string with = fmt::format(" with {}", assignment(config, "model.encoding.kind"));
  if (kind == "additive" && width % 4 != 0)
    fail(config, "model.width", "must be a multiple of 4" + with, "model.encoding.kind");
  if (kind == "multiplicative" && width % 2 != 0)
    fail(config, "model.width", "must be even" + with, "model.encoding.kind");
  if (kind == "concatenated" && width <= beside)
    fail(config, "model.width",
         fmt::format("must be greater than {}, the channels of the encoding,{}", beside, with),
         "model.encoding.kind");
  if (kind == "concatenated" && config.flag("model.encoding.every_block"))
    fail(config, "model.encoding.every_block", "is not for an encoding beside the content");
  if (kind == "multiplicative" && geometric)
    fail(config, "model.encoding.frequencies", "must be learned or random" + with);
  if (geometric && config.integer("model.encoding.space") % 2 != 0)
    fail(config, "model.encoding.space", "must be even for frequencies on both axes",
         "model.encoding.frequencies");
}

}  // namespace

void check_field(const Config& config) {
  if (config.text("data.kind") != "field_files") check_sides(config);
  check_encoding(config);
  if (config.text("model.mixer.time_kernel.kind") != "none")
    fail(config, "model.mixer.time_kernel.kind",
         "must be \"none\": tokens of a field have no order");
}

}  // namespace bochner

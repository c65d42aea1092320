#include <fmt/format.h>

#include <bochner/train/config/config_fail.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/key_checks.hpp>

namespace bochner {
namespace {

void check_model(const Config& config) {
  const std::int64_t width = config.integer("model.width");
  const std::int64_t heads = config.integer("model.mixer.heads");
  if (width % heads != 0)
    fail(config, "model.mixer.heads", "must divide " + assignment(config, "model.width"),
         "model.width");
  if (config.text("model.positions") == "rotary" && width / heads % 2 != 0)
    fail(config, "model.positions",
         fmt::format("needs an even model.width / model.mixer.heads, not {}", width / heads),
         "model.mixer.heads");
  const std::string& time_kernel = config.text("model.mixer.time_kernel.kind");
  if ((time_kernel == "rotation" || time_kernel == "gate") &&
      config.text("model.mixer.kind") != "linear")
    fail(config, "model.mixer.time_kernel.kind",
         "needs model.mixer.kind = \"linear\"; exact attention has: none, decay",
         "model.mixer.kind");
  if (config.number("model.mixer.time_kernel.shortest") >
      config.number("model.mixer.time_kernel.longest"))
    fail(config, "model.mixer.time_kernel.shortest",
         "must be at most " + assignment(config, "model.mixer.time_kernel.longest"),
         "model.mixer.time_kernel.longest");
}

void check_time(const Config& config) {
  for (const std::string section : {"model.time", "model.intensity"})
    if (config.number(section + ".shortest") > config.number(section + ".longest"))
      fail(config, section + ".shortest",
           "must be at most " + assignment(config, section + ".longest"), section + ".longest");
  const std::string& kind = config.text("model.time.kind");
  if (kind == "none") return;
  if (config.text("model.kind") != "events")
    fail(config, "model.time.kind", "needs model.kind = \"events\": other models see no times",
         "model.kind");
  if (config.text("model.time.use") != "rotate") return;
  if (kind.starts_with("mercer"))
    fail(config, "model.time.use", "cannot be done with " + assignment(config, "model.time.kind"),
         "model.time.kind");
  const std::int64_t dim = config.integer("model.width") / config.integer("model.mixer.heads");
  if (dim % 2 != 0)
    fail(config, "model.time.use",
         fmt::format("needs an even model.width / model.mixer.heads, not {}", dim),
         "model.mixer.heads");
}

/// Warm-up and decay against the length of the training, where that is known in steps.
void check_schedule(const Config& config) {
  const std::string schedule = config.text("optim.schedule.kind");
  if (config.number("optim.schedule.floor") > config.number("optim.lr"))
    fail(config, "optim.schedule.floor", "must be at most " + assignment(config, "optim.lr"),
         "optim.lr");
  const Period& steps = config.period("train.steps");
  if (steps.unit != Period::Unit::steps) return;
  const double warmup = static_cast<double>(config.integer("optim.schedule.warmup"));
  const double decay =
      schedule == "wsd" ? static_cast<double>(config.integer("optim.schedule.decay")) : 0;
  if (warmup > steps.count)
    fail(config, "optim.schedule.warmup", "must be at most " + assignment(config, "train.steps"),
         "train.steps");
  if (warmup + decay > steps.count)
    fail(config, "optim.schedule.decay",
         fmt::format("with {} it must be at most {}", assignment(config, "optim.schedule.warmup"),
                     assignment(config, "train.steps")),
         "train.steps");
}

void check_optimizer(const Config& config) {
  if (config.number_list("optim.betas").size() != 2)
    fail(config, "optim.betas", "must be two numbers");
  if (config.flag("optim.nesterov") && config.number("optim.momentum") == 0)
    fail(config, "optim.nesterov", "needs optim.momentum greater than 0", "optim.momentum");
}

void check_training(const Config& config) {
  if (config.integer("train.stop.patience") == 0) return;
  check_validation(config);
  if (config.period("train.validate.every").off())
    fail(config, "train.stop.patience", "needs train.validate.every greater than 0",
         "train.validate.every");
}

}  // namespace

const std::vector<ConfigCheck>& key_checks() {
  static const std::vector<ConfigCheck> checks{check_data,      check_model,    check_time,
                                               check_optimizer, check_schedule, check_training};
  return checks;
}

}  // namespace bochner

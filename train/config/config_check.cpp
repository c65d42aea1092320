#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/classifier_task.hpp>
#include <bochner/train/token_task.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// "model.width = 128"
std::string assignment(const Config& config, std::string_view name) {
  return fmt::format("{} = {}", name, format_value(config.value(name)));
}

/// At the place of the key; of the key it clashes with when it is a default itself.
[[noreturn]] void fail(const Config& config, std::string_view name, const std::string& demand,
                       std::string_view other = {}) {
  std::string where = config.location(name);
  if (where.empty() && !other.empty()) where = config.location(other);
  if (where.empty()) where = config.source();
  throw ConfigError(fmt::format("{}: {}: {}", where, assignment(config, name), demand));
}

void check_range(const Config& config, const ParameterRow& row) {
  const ConfigValue& value = config.value(row.name);
  const auto demand = [&](bool holds, const char* subject) {
    if (!holds) fail(config, row.name, fmt::format("{}must be {}", subject, row.range.text()));
  };
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    demand(row.range.contains(static_cast<double>(*integer)), "");
  if (const auto* number = std::get_if<double>(&value)) demand(row.range.contains(*number), "");
  if (const auto* period = std::get_if<Period>(&value))
    demand(row.range.contains(period->count), "");
  if (const auto* numbers = std::get_if<std::vector<double>>(&value))
    for (const double number : *numbers) demand(row.range.contains(number), "every number ");
}

void check_choice(const Config& config, const ParameterRow& row) {
  if (!row.choices) return;
  const std::vector<std::string> choices = row.choices();
  const std::string& chosen = config.text(row.name);
  if (std::find(choices.begin(), choices.end(), chosen) != choices.end()) return;
  const std::string near = nearest(chosen, choices);
  fail(config, row.name,
       fmt::format("must be {}{}", one_of(choices),
                   near.empty() ? "" : ". Did you mean " + in_quotes(near) + "?"));
}

void check_texts(const Config& config, const ParameterRow& row) {
  if (row.kind() != ConfigKind::text_list) return;
  const std::vector<std::string>& texts = config.text_list(row.name);
  if (std::find(texts.begin(), texts.end(), "") != texts.end())
    fail(config, row.name, "must not hold an empty text");
}

void check_token_task(const Config& config) {
  const TokenTaskSpec spec = token_task_spec(config);
  const auto demand = [&](const char* key, std::size_t value, std::size_t smallest) {
    if (value < smallest)
      fail(config, key,
           fmt::format("must be at least {} for {} and {}", smallest,
                       assignment(config, "data.kind"), assignment(config, "data.items")),
           "data.kind");
  };
  demand("data.length", spec.length, smallest_length(spec));
  demand("data.vocabulary", spec.vocabulary, smallest_vocabulary(spec));
}

void check_list_ops(const Config& config) {
  const ListOpsSpec spec = list_ops_spec(config);
  if (spec.shortest > spec.longest)
    fail(config, "data.shortest", "must be at most " + assignment(config, "data.length"),
         "data.length");
  if (double(spec.shortest) > largest_list_ops(spec))
    fail(config, "data.shortest",
         fmt::format("must be at most {}: {} and {} allow no larger expression",
                     largest_list_ops(spec), assignment(config, "data.depth"),
                     assignment(config, "data.arguments")),
         "data.depth");
}

void check_series(const Config& config) {
  const std::vector<double>& splits = config.number_list("data.splits");
  if (splits.size() != 3) fail(config, "data.splits", "must be three numbers");
  const bool rows = *std::max_element(splits.begin(), splits.end()) > 1;
  if (rows &&
      std::any_of(splits.begin(), splits.end(), [](double n) { return n != std::floor(n); }))
    fail(config, "data.splits", "must be rows, all whole, or fractions, all at most 1");
  if (!rows && splits[0] + splits[1] + splits[2] > 1 + 1e-9)
    fail(config, "data.splits", "must be fractions that add up to at most 1");
  if (config.text("model.backbone") == "attention" &&
      config.integer("model.patch.length") > config.integer("data.lookback"))
    fail(config, "model.patch.length", "must be at most " + assignment(config, "data.lookback"),
         "data.lookback");
}

void check_files(const Config& config) {
  if (config.text_list("data.files").empty())
    fail(config, "data.files", "must name the files of " + assignment(config, "data.kind"));
}

void check_data(const Config& config) {
  const std::string &kind = config.text("data.kind"), &model = config.text("model.kind");
  if ((kind == "hawkes") != (model == "events"))
    fail(config, "model.kind",
         fmt::format("cannot learn {}: {}", assignment(config, "data.kind"),
                     model == "events" ? "it has no times" : "it takes events"),
         "data.kind");
  if (kind == "hawkes") return;
  if ((kind == "series") != (model == "forecaster"))
    fail(config, "model.kind",
         fmt::format("cannot learn {}: {}", assignment(config, "data.kind"),
                     kind == "series" ? "its numbers are for a forecaster"
                                      : "a forecaster learns data.kind = \"series\""),
         "data.kind");
  if ((kind == "listops") != (model == "classifier"))
    fail(config, "model.kind",
         fmt::format("cannot learn {}: {}", assignment(config, "data.kind"),
                     model == "lm" ? "its labels are for a classifier" : "it has no labels"),
         "data.kind");
  if (kind == "listops") return check_list_ops(config);
  if (kind != "bytes" && kind != "series") return check_token_task(config);
  if (kind == "series") check_series(config);
  check_files(config);
}

/// Early stopping needs data to validate on.
void check_validation(const Config& config) {
  const bool is_text = config.text("data.kind") == "bytes";
  if (config.text("data.kind") == "series") {
    if (config.number_list("data.splits")[1] == 0)
      fail(config, "train.stop.patience", "needs a second number of data.splits greater than 0",
           "data.splits");
    return;
  }
  if (is_text && config.number("data.validation") == 0)
    fail(config, "train.stop.patience", "needs data.validation greater than 0", "data.validation");
  if (!is_text && config.integer("data.validation_examples") == 0)
    fail(config, "train.stop.patience", "needs data.validation_examples greater than 0",
         "data.validation_examples");
}

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
  if (config.period("train.steps").is_time())
    fail(config, "train.steps",
         "must be steps, epochs or tokens; the limit in wall time is train.time");
  const Period& time = config.period("train.time");
  if (!time.off() && !time.is_time())
    fail(config, "train.time", "must be a wall time such as 45s, 30min or 2h");
  if (config.integer("train.stop.patience") == 0) return;
  check_validation(config);
  if (config.period("train.validate.every").off())
    fail(config, "train.stop.patience", "needs train.validate.every greater than 0",
         "train.validate.every");
}

}  // namespace

void validate(const Config& config) {
  for (const ParameterRow& row : config.table().rows()) {
    check_range(config, row);
    check_choice(config, row);
    check_texts(config, row);
  }
  check_data(config);
  check_model(config);
  check_time(config);
  check_optimizer(config);
  check_schedule(config);
  check_training(config);
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <fmt/format.h>

#include <algorithm>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/train/config/conditions.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <functional>

namespace bochner {
namespace {

/// The key that names the mixers: model.pattern, or model.mixer.kind where that is empty.
std::string mixer_key(const Config& config) {
  return config.text_list("model.pattern").empty() ? "model.mixer.kind" : "model.pattern";
}

std::vector<std::string> mixer_kinds(const Config& config) {
  const std::vector<std::string>& pattern = config.text_list("model.pattern");
  return pattern.empty() ? std::vector{config.text("model.mixer.kind")} : pattern;
}

/// The mixers of those kinds with all keys as they are set: a stack leaves out what a mixer lacks,
/// see block_spec().
std::vector<MixerSpec> named_mixers(const Config& config) {
  const std::vector<std::string> kinds = mixer_kinds(config);
  std::vector<MixerSpec> all(kinds.size(), read_spec<MixerSpec>(config, "model.mixer"));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].kind = kinds[i];
  return all;
}

/// Whether one of them has it: some_mixer(config, &MixerTraits::heads).
bool some_mixer(const Config& config, bool MixerTraits::*trait) {
  return std::ranges::any_of(named_mixers(config), [&](const MixerSpec& mixer) {
    return mixers().traits(mixer.kind, mixer).*trait;
  });
}

/// "needs model.mixer.kind = \"linear\"", or in the pattern.
std::string needs_one_of(const Config& config, const std::vector<std::string>& kinds) {
  const std::string key = mixer_key(config);
  const std::string names = alternatives(kinds);
  return key == "model.pattern" ? fmt::format("needs {} in {}", names, key)
                                : fmt::format("needs {} = {}", key, names);
}

/// Lists the kinds that take tokens in any order, with the other keys of this mixer.
std::vector<std::string> kinds_in_any_order(MixerSpec mixer) {
  std::vector<std::string> kinds;
  for (const std::string& kind : mixers().names()) {
    mixer.kind = kind;
    if (mixers().traits(kind, mixer).any_order) kinds.push_back(kind);
  }
  return kinds;
}

using Has = std::function<bool(const MixerTraits&)>;

/// Selects the kinds that have a trait.
std::vector<std::string> kinds_that(const Config& config, std::vector<std::string> kinds,
                                    const Has& has) {
  const auto spec = read_spec<MixerSpec>(config, "model.mixer");
  std::erase_if(kinds, [&](const std::string& kind) { return !has(mixers().traits(kind, spec)); });
  return kinds;
}

void check_heads(const Config& config) {
  const std::int64_t width = config.integer("model.width");
  const std::int64_t heads = config.integer("model.mixer.heads");
  if (width % heads != 0 && some_mixer(config, &MixerTraits::heads))
    fail_over(config, "model.mixer.heads", "must divide", "model.width");
  const std::string channels = "model.mixer.h3.channels";
  if (width % config.integer(channels) != 0 && some_mixer_is(config, {"h3"}))
    fail_over(config, channels, "must divide", "model.width");
}

/// A file may have a kind beside a pattern, for --set to change.
void check_pattern(const Config& config) {
  const std::string by = mixer_key(config), kind = "model.mixer.kind";
  if (by != kind && config.is_set(kind)) fail_over(config, kind, "has no effect with", by);
}

void check_directions(const Config& config) {
  const std::string directions = "model.mixer.directions";
  const std::int64_t chosen = config.integer(directions);
  if (chosen == 2 && predicts_what_follows(config))
    fail(config, directions,
         "shows tokens what follows, which " + assignment(config, "model.kind") +
             " is to predict: choose 1",
         "model.kind");
  const std::string& kind = config.text("model.kind");
  if (chosen == 1 && (kind == "classifier" || kind == "regressor") &&
      config.text("model.pooling") == "cls")
    fail(config, directions,
         "lets a class token, which stands first, see nothing: choose model.pooling = \"mean\"",
         "model.pooling");
}

void check_time_kernel(const Config& config) {
  require_at_most(config, "model.mixer.time_kernel.shortest", "model.mixer.time_kernel.longest");
}

void check_window(const Config& config) {
  const std::string window = "model.mixer.window", kernel = "model.mixer.time_kernel.kind";
  if (config.integer(window) == 0 || !some_mixer(config, &MixerTraits::window)) return;
  if (!predicts_what_follows(config) && config.integer("model.mixer.directions") != 1)
    fail(config, window,
         config.text("model.kind") == "field"
             ? "is the last tokens, and those of a field have no order: choose 0"
             : "is the last tokens that are seen: needs model.mixer.directions = 1",
         "model.mixer.directions");
  const std::string& kind = config.text(kernel);
  if (kind != "none" && has_irregular_tokens(config))
    fail(config, window, "needs " + kernel + " = \"none\" where tokens have times", kernel);
  if (!some_mixer_is(config, {"linear"})) return;
  if (kind != "none" && kind != "decay")
    fail(config, window, "needs " + kernel + " = \"none\" or \"decay\"", kernel);
  if (config.text("model.mixer.time_kernel.per") != "head")
    fail(config, window, "needs model.mixer.time_kernel.per = \"head\"",
         "model.mixer.time_kernel.per");
}

void check_distances(const Config& config) {
  if (!has_irregular_tokens(config)) return;
  for (const std::string& kind : mixer_kinds(config))
    if (kinds_that(config, {kind}, &MixerTraits::gaps).empty())
      fail(config, mixer_key(config),
           fmt::format("{} needs tokens at equal distances, and those of {} have times: choose {}, "
                       "or \"ssm\" with model.mixer.ssm.form = \"s5\"",
                       in_quotes(kind), assignment(config, "data.kind"),
                       alternatives({"softmax", "linear"})),
           "data.kind");
}

void check_warm(const Config& config) {
  if (applies(config, "model.mixer.warm_steps") && config.integer("model.mixer.warm_steps") == 0)
    fail(config, "model.mixer.warm", "needs model.mixer.warm_steps greater than 0",
         "model.mixer.warm_steps");
}

void check_update(const Config& config) {
  const std::string update = "model.mixer.update";
  if (config.text(update) == "sum" || !applies(config, update)) return;
  if (config.integer("model.mixer.window") > 0)
    fail(config, update, "needs model.mixer.window = 0", "model.mixer.window");
  if (config.text("model.mixer.warm") != "none")
    fail(config, update, "needs model.mixer.warm = \"none\"", "model.mixer.warm");
}

void check_state_space(const Config& config) {
  if (!some_mixer_is(config, {"ssm"})) return;
  const std::string section = "model.mixer.ssm.";
  const std::string& form = config.text(section + "form");
  if (form == "s4d" || form == "dss" || form == "s5")
    require_at_most(config, section + "step_min", section + "step_max");
  if (form == "lru") require_at_most(config, section + "radius_min", section + "radius_max");
  const std::int64_t states = config.integer(section + "states");
  if (form == "s5" && states % config.integer(section + "blocks") != 0)
    fail_over(config, section + "blocks", "must divide", section + "states");
}

/// Sequences of files may be shorter than data.length.
void check_told_apart(const Config& config) {
  const std::string &data = config.text("data.kind"), &model = config.text("model.kind");
  const bool is_length =
      (model == "lm" || data == "listops" || data == "hawkes") && data != "event_files";
  const char* told_apart = "model.mixer.features.length";
  if (config.integer(told_apart) > 0 && is_length && counts_positions(config) &&
      config.integer(told_apart) < config.integer("data.length"))
    fail_over(config, told_apart, "must be 0, or at least", "data.length");
}

}  // namespace

bool some_mixer_is(const Config& config, const std::vector<std::string>& kinds) {
  return std::ranges::any_of(mixer_kinds(config), [&](const std::string& kind) {
    return std::ranges::find(kinds, kind) != kinds.end();
  });
}

void check_order(const Config& config) {
  if (config.text("model.kind") != "field") return;
  const char* none = ": tokens of a field have no order";
  for (const MixerSpec& mixer : named_mixers(config)) {
    if (mixers().traits(mixer.kind, mixer).any_order) continue;
    if (mixer.update != "sum" && mixer.kind == "linear")
      fail(config, "model.mixer.update", std::string("must be \"sum\"") + none);
    if (mixer.kind == "linear")
      fail(config, "model.mixer.features.kind", std::string("counts tokens") + none);
    fail(config, mixer_key(config),
         fmt::format("must be {}, not {}{}", alternatives(kinds_in_any_order(mixer)),
                     in_quotes(mixer.kind), none));
  }
  if (config.integer("model.mixer.convolution") > 0)
    fail(config, "model.mixer.convolution", std::string("must be 0") + none);
}

bool has_stack(const Config& config) {
  if (is_custom(config)) return applies(config, "model.blocks");
  const std::string& kind = config.text("model.kind");
  return kind != "gp" && kind != "ensemble" && kind != "filter_bank" && kind != "bag_of_words" &&
         (kind != "forecaster" || config.text("model.backbone") != "linear");
}

bool forecasts_rows(const Config& config) {
  return config.text("model.kind") == "forecaster" && config.text("model.backbone") == "rows";
}

bool predicts_what_follows(const Config& config) {
  const std::string& kind = config.text("model.kind");
  return kind == "lm" || kind == "events" || forecasts_rows(config);
}

bool has_irregular_tokens(const Config& config) {
  const std::string& kind = config.text("data.kind");
  return kind == "event_files" || kind == "hawkes" || config.flag("data.stamps");
}

bool counts_positions(const Config& config) {
  return some_mixer_is(config, {"linear"}) &&
         counts_positions(read_spec<FeatureSpec>(config, "model.mixer.features"));
}

void check_stack(const Config& config) {
  check_heads(config);
  check_time_kernel(config);
  if (!has_stack(config)) return;
  check_pattern(config);
  check_directions(config);
  check_warm(config);
  check_update(config);
  check_window(config);
  check_distances(config);
  check_state_space(config);
  check_told_apart(config);
}

void check_traits(const Config& config) {
  if (!has_stack(config)) return;
  const auto require_some = [&](const char* key, bool wanted, const Has& has) {
    if (wanted && applies(config, key) && kinds_that(config, mixer_kinds(config), has).empty())
      fail(config, key, needs_one_of(config, kinds_that(config, mixers().names(), has)),
           mixer_key(config));
  };
  const std::string &kernel = config.text("model.mixer.time_kernel.kind"),
                    &use = config.text("model.time.use");
  require_some("model.positions", config.text("model.positions") == "rotary",
               &MixerTraits::queries);
  require_some("model.mixer.time_kernel.kind", kernel != "none",
               [&](const MixerTraits& has) { return has.has_time_kernel(kernel); });
  require_some("model.time.use", use == "attend" || use == "rotate", &MixerTraits::times);
}

}  // namespace bochner

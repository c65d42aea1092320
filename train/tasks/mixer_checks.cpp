#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/tasks/mixer_checks.hpp>

namespace bochner {
namespace {

/// Lists the kinds that take tokens in any order, with the other keys of this mixer.
std::vector<std::string> kinds_in_any_order(MixerSpec mixer) {
  std::vector<std::string> kinds;
  for (const std::string& kind : mixers().names()) {
    mixer.kind = kind;
    if (mixers().traits(kind, mixer).any_order) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace

std::string mixer_key(const Config& config) {
  return config.text_list("model.pattern").empty() ? "model.mixer.kind" : "model.pattern";
}

std::vector<std::string> mixer_kinds(const Config& config) {
  const std::vector<std::string>& pattern = config.text_list("model.pattern");
  return pattern.empty() ? std::vector{config.text("model.mixer.kind")} : pattern;
}

std::vector<MixerSpec> named_mixers(const Config& config) {
  const std::vector<std::string> kinds = mixer_kinds(config);
  std::vector<MixerSpec> all(kinds.size(), read_spec<MixerSpec>(config, "model.mixer"));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].kind = kinds[i];
  return all;
}

bool some_mixer(const Config& config, bool MixerTraits::*trait) {
  return std::ranges::any_of(named_mixers(config), [&](const MixerSpec& mixer) {
    return mixers().traits(mixer.kind, mixer).*trait;
  });
}

bool some_mixer_is(const Config& config, const std::vector<std::string>& kinds) {
  return std::ranges::any_of(mixer_kinds(config), [&](const std::string& kind) {
    return std::ranges::find(kinds, kind) != kinds.end();
  });
}

std::string needs_one_of(const Config& config, const std::vector<std::string>& kinds) {
  const std::string key = mixer_key(config);
  const std::string names = alternatives(kinds);
  return key == "model.pattern" ? fmt::format("needs {} in {}", names, key)
                                : fmt::format("needs {} = {}", key, names);
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

}  // namespace bochner

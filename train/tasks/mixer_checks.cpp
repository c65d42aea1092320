#include <fmt/format.h>

#include <algorithm>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/recurrences/ssm_spec.hpp>
#include <bochner/train/tasks/mixer_checks.hpp>
#include <map>
#include <set>

namespace bochner {
namespace {

/// What model.mixer.filter.kind = "auto" is; sgconv has no other.
std::string filter_of(const MixerSpec& mixer) {
  const std::map<std::string, const char*> published{{"hyena", "implicit"},
                                                     {"h3", "exponential"},
                                                     {"long_conv", "explicit"},
                                                     {"sgconv", "dyadic"}};
  const auto found = published.find(mixer.kind);
  if (found == published.end()) return "";
  const std::string& kind = mixer.own.of<FilterSection>().filter.kind;
  return kind == "auto" || mixer.kind == "sgconv" ? found->second : kind;
}

/// Kinds, forms and filters of the mixers that are named, by the keys that choose them.
using Choices = std::map<std::string, std::set<std::string>>;
Choices choices_of(const Config& config) {
  Choices choices;
  for (const MixerSpec& mixer : named_mixers(config)) {
    choices["kind"].insert(mixer.kind);
    choices["ssm.form"].insert(mixer.own.of<SsmSpec>().form);
    choices["filter.kind"].insert(filter_of(mixer));
    choices["time_kernel.kind"].insert(mixer.time_kernel.kind);
    choices["denominator.kind"].insert(mixer.denominator.kind);
    choices["features.kind"].insert(mixer.features.kind);
    if (mixer.features.kind == "hybrid")
      for (const std::string& kind : mixer.features.estimators)
        choices["features.kind"].insert(kind);
  }
  return choices;
}

/// Keys and choices are those below model.mixer.
const std::vector<HeededBy>& table_of_choices() {
  static const std::vector<HeededBy> table{
      {"kind", {"ssm"}, {"ssm"}},
      {"kind", {"min_gru"}, {"min_gru"}},
      {"kind", {"hyena"}, {"hyena"}},
      {"kind", {"h3"}, {"h3"}},
      {"kind", {"hyena", "h3", "long_conv"}, {"filter.kind"}},
      {"kind", {"hyena", "h3", "long_conv", "sgconv"}, {"filter"}},
      {"ssm.form", {"s4d"}, {"ssm.start"}},
      {"ssm.form", {"s5"}, {"ssm.blocks"}},
      {"ssm.form", {"s4d", "dss", "s5"}, {"ssm.discretisation", "ssm.step_min", "ssm.step_max"}},
      {"ssm.form", {"lru"}, {"ssm.radius_min", "ssm.radius_max", "ssm.phase"}},
      {"filter.kind",
       {"implicit"},
       {"filter.features", "filter.hidden", "filter.layers", "filter.frequency",
        "filter.learn_positions", "filter.slow", "filter.fast", "filter.shift"}},
      {"filter.kind",
       {"explicit"},
       {"filter.deviation", "filter.squash", "filter.smooth", "filter.dropout", "filter.start"}},
      {"filter.kind",
       {"exponential", "spectral"},
       {"filter.states", "filter.shortest", "filter.longest"}},
      {"filter.kind", {"exponential"}, {"filter.eigenvalues"}},
      {"filter.kind", {"dyadic"}, {"filter.piece"}},
      {"filter.kind", {"spectral"}, {"filter.density"}},
      {"time_kernel.kind",
       {"decay", "rotation", "spectral", "gate"},
       {"time_kernel.shortest", "time_kernel.longest"}},
      {"time_kernel.kind",
       {"spectral"},
       {"time_kernel.frequencies", "time_kernel.harmonics", "time_kernel.density"}},
      {"features.kind", {"dpfp"}, {"features.rolls"}},
      {"features.kind", {"hybrid", "hybrid_gaussian"}, {"features.tau"}},
      {"features.kind", {"cosformer"}, {"features.length"}},
      {"denominator.kind", {"clip"}, {"denominator.floor"}},
      {"denominator.kind", {"smooth"}, {"denominator.constant"}}};
  return table;
}

/// Those that take tokens in any order, with the other keys of this one.
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
  return key == "model.pattern" ? fmt::format("needs {} in model.pattern", alternatives(kinds))
                                : needs_value(key, kinds);
}

std::vector<std::string> below_mixer(std::vector<std::string> keys) {
  for (std::string& key : keys) key.insert(0, "model.mixer.");
  return keys;
}

std::vector<UnheededKey> unused_mixer_keys(const Config& config) {
  Choices chosen = choices_of(config);
  std::vector<UnheededSections> unused;
  for (const auto& [choice, values, sections] : table_of_choices()) {
    if (std::ranges::any_of(values, [&](auto& value) { return chosen[choice].contains(value); }))
      continue;
    if (choice == std::string_view("kind")) {
      unused.push_back({below_mixer(sections), needs_one_of(config, values), mixer_key(config)});
    } else {
      const std::string key = below_mixer({choice}).front();
      unused.push_back({below_mixer(sections), needs_value(key, values), key});
    }
  }
  return changed_keys(config, unused);
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

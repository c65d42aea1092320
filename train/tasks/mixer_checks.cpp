#include <fmt/format.h>

#include <algorithm>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/recurrences/ssm_spec.hpp>
#include <bochner/train/tasks/mixer_checks.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
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

/// A kind that is a user's may heed any key.
constexpr const char* any = "any";
template <class Registry>
std::string known_kind(const Registry& registry, const std::string& kind) {
  return registry.is_built_in(kind) ? kind : any;
}

void add_choices_of_features(const FeatureSpec& spec, Choices& choices) {
  const std::map<std::string, const char*> own_weights{{"wpff", "learned"},
                                                       {"wpff_fixed", "fixed"}};
  std::vector<std::string> kinds{spec.kind};
  if (spec.kind == "hybrid")
    kinds.insert(kinds.end(), spec.estimators.begin(), spec.estimators.end());
  for (const std::string& kind : kinds) {
    choices["features.kind"].insert(known_kind(feature_maps(), kind));
    const auto own = own_weights.find(kind);
    choices["features.weights"].insert(own == own_weights.end() ? spec.weights : own->second);
    if (!feature_maps().is_built_in(kind)) choices["features.weights"].insert(any);
  }
  choices["density.kind"].insert(known_kind(densities(), spec.density.kind));
  if (spec.weights == "importance")
    choices["density.kind"].insert(known_kind(densities(), spec.density.proposal));
}

Choices choices_of(const Config& config) {
  Choices choices;
  for (const MixerSpec& mixer : named_mixers(config)) {
    choices["kind"].insert(mixer.kind);
    choices["ssm.form"].insert(mixer.own.of<SsmSpec>().form);
    choices["filter.kind"].insert(filter_of(mixer));
    choices["time_kernel.kind"].insert(mixer.time_kernel.kind);
    choices["denominator.kind"].insert(mixer.denominator.kind);
    choices["normalize"].insert(mixer.normalize);
    if (mixers().traits(mixer.kind, mixer).features)
      add_choices_of_features(mixer.features, choices);
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
      {"features.kind",
       {"positive", "hyperbolic", "trigonometric", "fourier", "nonstationary", "oprf", "saderf",
        "sderf", "aderf", "pff", "wpff", "wpff_fixed", "hybrid_angular", "hybrid_gaussian",
        "hybrid_cluster", "hybrid_learned"},  // with frequencies
       {"density", "draws", "redraw", "features.projection", "features.spread"}},
      {"features.kind", {"nonstationary"}, {"features.correlation"}},
      {"features.kind", {"hybrid"}, {"features.estimators", "features.lambdas"}},
      {"features.kind", {"hybrid", "hybrid_angular", "hybrid_gaussian"}, {"features.lambda"}},
      {"features.kind", {"hybrid", "hybrid_angular"}, {"features.smooth"}},
      {"features.kind", {"hybrid", "hybrid_learned", "hybrid_cluster"}, {"features.gates"}},
      {"features.kind", {"hybrid_learned"}, {"features.bases"}},
      {"features.weights", {"learned", "normalized"}, {"features.hidden"}},
      {"features.weights", {"fixed"}, {"features.box", "features.refit"}},
      {"features.weights", {"importance"}, {"density.proposal", "density.proposal_scale"}},
      {"density.kind", {"mixture"}, {"density.components", "density.temperature"}},
      {"density.kind", {"student_t"}, {"density.degrees"}},
      {"density.kind", {"gamma"}, {"density.shape"}},
      {"density.kind", {"flow", "radial"}, {"density.knots"}},
      {"density.kind", {"flow"}, {"density.layers", "density.hidden"}},
      {"normalize", {"l2"}, {"sharpness"}},
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
  if (!has_stack(config)) return {};
  Choices chosen = choices_of(config);
  std::vector<UnheededSections> unused;
  for (const auto& [choice, values, sections] : table_of_choices()) {
    const std::set<std::string>& of = chosen[choice];
    if (of.empty() || of.contains(any) ||
        std::ranges::any_of(values, [&](auto& value) { return of.contains(value); }))
      continue;
    if (choice == std::string_view("kind")) {
      unused.push_back({below_mixer(sections), needs_one_of(config, values), mixer_key(config)});
    } else {
      const std::string key = below_mixer({choice}).front();
      constexpr std::size_t readable = 8;
      unused.push_back({below_mixer(sections),
                        values.size() > readable ? "means nothing to " + assignment(config, key)
                                                 : needs_value(key, values),
                        key});
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

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

const std::vector<std::string>& maps_with_frequencies() {
  static const std::vector<std::string> maps{
      "positive",      "hyperbolic", "trigonometric",  "fourier",         "nonstationary",
      "oprf",          "saderf",     "sderf",          "aderf",           "pff",
      "wpff",          "wpff_fixed", "hybrid_angular", "hybrid_gaussian", "hybrid_cluster",
      "hybrid_learned"};
  return maps;
}

/// Whether one of the values is chosen, or a kind that is a user's.
bool is_chosen(const Choices& choices, const std::string& choice,
               const std::vector<std::string>& values) {
  const auto of = choices.find(choice);
  return of != choices.end() &&
         (of->second.contains(any) || std::ranges::any_of(values, [&](const std::string& value) {
            return of->second.contains(value);
          }));
}

/// Of keys that only some of the values heed; choice and keys are those below model.mixer.
KeyCondition use_of(const Config& config, const Choices& choices, const std::string& choice,
                    const std::vector<std::string>& values,
                    const std::vector<std::string>& sections) {
  const bool heeded = !choices.contains(choice) || is_chosen(choices, choice, values);
  if (choice == "kind")
    return {below_mixer(sections), heeded, needs_one_of(config, values), mixer_key(config)};
  const std::string key = below_mixer({choice}).front();
  constexpr std::size_t readable = 8;
  return {below_mixer(sections), heeded,
          values.size() > readable ? "means nothing to " + assignment(config, key)
                                   : needs_value(key, values),
          key};
}

std::vector<KeyCondition> uses_of_choices(const Config& config, const Choices& choices) {
  const auto by = [&](const char* choice, const std::vector<std::string>& values,
                      const std::vector<std::string>& sections) {
    return use_of(config, choices, choice, values, sections);
  };
  return {
      by("kind", {"ssm"}, {"ssm"}),
      by("kind", {"min_gru"}, {"min_gru"}),
      by("kind", {"hyena"}, {"hyena"}),
      by("kind", {"h3"}, {"h3"}),
      by("kind", {"hyena", "h3", "long_conv"}, {"filter.kind"}),
      by("kind", {"hyena", "h3", "long_conv", "sgconv"}, {"filter"}),
      by("ssm.form", {"s4d"}, {"ssm.start"}),
      by("ssm.form", {"s5"}, {"ssm.blocks"}),
      by("ssm.form", {"s4d", "dss", "s5"}, {"ssm.discretisation", "ssm.step_min", "ssm.step_max"}),
      by("ssm.form", {"lru"}, {"ssm.radius_min", "ssm.radius_max", "ssm.phase"}),
      by("filter.kind", {"implicit"},
         {"filter.features", "filter.hidden", "filter.layers", "filter.frequency",
          "filter.learn_positions", "filter.slow", "filter.fast", "filter.shift"}),
      by("filter.kind", {"explicit"},
         {"filter.deviation", "filter.squash", "filter.smooth", "filter.dropout", "filter.start"}),
      by("filter.kind", {"exponential", "spectral"},
         {"filter.states", "filter.shortest", "filter.longest"}),
      by("filter.kind", {"exponential"}, {"filter.eigenvalues"}),
      by("filter.kind", {"dyadic"}, {"filter.piece"}),
      by("filter.kind", {"spectral"}, {"filter.density"}),
      by("time_kernel.kind", {"decay", "rotation", "spectral", "gate"},
         {"time_kernel.shortest", "time_kernel.longest"}),
      by("time_kernel.kind", {"spectral"},
         {"time_kernel.frequencies", "time_kernel.harmonics", "time_kernel.density"}),
      by("features.kind", maps_with_frequencies(),
         {"density", "draws", "redraw", "features.projection", "features.spread"}),
      by("features.kind", {"nonstationary"}, {"features.correlation"}),
      by("features.kind", {"hybrid"}, {"features.estimators", "features.lambdas"}),
      by("features.kind", {"hybrid", "hybrid_angular", "hybrid_gaussian"}, {"features.lambda"}),
      by("features.kind", {"hybrid", "hybrid_angular"}, {"features.smooth"}),
      by("features.kind", {"hybrid", "hybrid_learned", "hybrid_cluster"}, {"features.gates"}),
      by("features.kind", {"hybrid_learned"}, {"features.bases"}),
      by("features.weights", {"learned", "normalized"}, {"features.hidden"}),
      by("features.weights", {"fixed"}, {"features.box", "features.refit"}),
      by("features.weights", {"importance"}, {"density.proposal", "density.proposal_scale"}),
      by("density.kind", {"mixture"}, {"density.components", "density.temperature"}),
      by("density.kind", {"student_t"}, {"density.degrees"}),
      by("density.kind", {"gamma"}, {"density.shape"}),
      by("density.kind", {"flow", "radial"}, {"density.knots"}),
      by("density.kind", {"flow"}, {"density.layers", "density.hidden"}),
      by("normalize", {"l2"}, {"sharpness"}),
      by("features.kind", {"dpfp"}, {"features.rolls"}),
      by("features.kind", {"hybrid", "hybrid_gaussian"}, {"features.tau"}),
      by("features.kind", {"cosformer"}, {"features.length"}),
      by("denominator.kind", {"clip"}, {"denominator.floor"}),
      by("denominator.kind", {"smooth"}, {"denominator.constant"})};
}

/// Of the rate of what is_density() of the optimizer names.
KeyCondition use_of_spectra(const Config& config, const Choices& choices) {
  const auto is_own = [](const std::string& kind) { return !mixers().is_built_in(kind); };
  const bool learned = is_chosen(choices, "features.kind", maps_with_frequencies()) ||
                       is_chosen(choices, "time_kernel.kind", {"spectral"}) ||
                       is_chosen(choices, "filter.kind", {"spectral"}) ||
                       is_chosen(choices, "normalize", {"l2"}) ||
                       std::ranges::any_of(mixer_kinds(config), is_own);
  std::string choice = mixer_key(config);
  for (const std::string& other :
       below_mixer({"features.kind", "time_kernel.kind", "filter.kind", "normalize"}))
    if (config.is_set(other)) choice = other;
  return {{"optim.density_lr_factor"},
          learned,
          "needs a feature map with frequencies, a time kernel or filter \"spectral\", or "
          "model.mixer.normalize = \"l2\": no other density is among them, see optim.groups",
          choice};
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

std::vector<KeyCondition> uses_of_mixers(const Config& config) {
  if (!has_stack(config)) return {};
  const Choices choices = choices_of(config);
  std::vector<KeyCondition> uses = uses_of_choices(config, choices);
  uses.push_back(use_of_spectra(config, choices));
  const std::string warm = "model.mixer.warm", update = "model.mixer.update";
  uses.push_back({{"model.mixer.warm_steps"},
                  config.text(warm) != "none",
                  "needs " + warm + " other than \"none\"",
                  warm,
                  true});
  uses.push_back({{"model.mixer.delta.negative"},
                  config.text(update) == "delta",
                  needs_value(update, {"delta"}),
                  update,
                  true});
  return uses;
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

#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/features/projection.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner {

ParameterTable registered_parameters() {
  Choices choices;
  choices.mixers = [] { return mixers().names(); };
  choices.features = [] { return feature_maps().names(); };
  choices.projections = [] {
    std::vector<std::string> names = projections().names();
    names.insert(names.begin(), "density");
    return names;
  };
  choices.densities = [] { return densities().names(); };
  choices.times = [] {
    std::vector<std::string> names = time_encodings().names();
    names.insert(names.begin(), "none");
    return names;
  };
  choices.time_uses = time_uses;
  choices.draws = base_draw_names;
  ParameterTable table = standard_parameters(choices);
  const auto add_options = [&](const std::string& section, const std::vector<Option>& options) {
    for (const auto& [name, initial, doc] : options)
      table.add({.name = section + name, .initial = initial, .doc = doc});
  };
  add_options("model.mixer.", mixers().options());
  add_options("model.mixer.features.", feature_maps().options());
  add_options("model.mixer.density.", densities().options());
  return table;
}

Config read_config(const std::string& file, const std::vector<std::string>& sets) {
  Config config = load_config(file, registered_parameters());
  for (const std::string& set : sets) apply_set(config, set);
  validate(config);
  return config;
}

}  // namespace bochner

#include <algorithm>
#include <bochner/train/tasks/mixer_checks.hpp>

namespace bochner {

std::vector<MixerSpec> named_mixers(const Config& config) {
  const auto mixer = read_spec<MixerSpec>(config, "model.mixer");
  const std::vector<std::string>& pattern = config.text_list("model.pattern");
  if (pattern.empty()) return {mixer};
  std::vector<MixerSpec> all(pattern.size(), mixer);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].kind = pattern[i];
  return all;
}

bool some_mixer(const Config& config, bool MixerTraits::*trait) {
  return std::ranges::any_of(named_mixers(config), [&](const MixerSpec& mixer) {
    return mixers().traits(mixer.kind, mixer).*trait;
  });
}

}  // namespace bochner

#include <bochner/layers/features/exponential_moments.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/train/config/conditions.hpp>
#include <bochner/train/tasks/kernel_note.hpp>
#include <bochner/train/tasks/stack_checks.hpp>

namespace bochner {

std::string kernel_note(const Config& config) {
  if (!has_stack(config) || !applies(config, "model.mixer.density.kind")) return "";
  return infinite_kernel(read_spec<MixerSpec>(config, "model.mixer").features);
}

}  // namespace bochner

#include <bochner/layers/attention/mixers.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Registry<Mixer, MixerSpec>& mixers() {
  static Registry<Mixer, MixerSpec> registry(
      "mixer", {{"softmax", make<SoftmaxMixer>}, {"linear", make<LinearMixer>}});
  return registry;
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/layers/attention/mixers.hpp>

namespace bochner::inline BOCHNER_PRECISION {

void show_attention(const Tape& tape, const Mixer& mixer, const Attended& what) {
  if (auto* observer = dynamic_cast<AttentionObserver*>(tape.observer))
    observer->attended(mixer, what);
}

Registry<Mixer, MixerSpec>& mixers() {
  static Registry<Mixer, MixerSpec> registry(
      "mixer", {{"softmax", make<SoftmaxMixer>}, {"linear", make<LinearMixer>}});
  return registry;
}

}  // namespace bochner::inline BOCHNER_PRECISION

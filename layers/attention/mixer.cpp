#include <bochner/layers/attention/mixers.hpp>

namespace bochner::inline BOCHNER_PRECISION {

void show_attention(const Tape& tape, const Mixer& mixer, const Attended& what) {
  if (auto* observer = dynamic_cast<AttentionObserver*>(tape.observer))
    observer->attended(mixer, what);
}

Mixers& mixers() {
  static Mixers registry = [] {
    Mixers all("mixer", {});
    for (const auto add : {add_softmax, add_linear, add_hgrn2, add_ssm, add_min_gru, add_mlstm,
                           add_hyena, add_long_conv, add_h3, add_sgconv})
      add(all);
    return all;
  }();
  return registry;
}

}  // namespace bochner::inline BOCHNER_PRECISION

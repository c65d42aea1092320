#include <bochner/layers/mixers/mixer_demands.hpp>

namespace bochner::inline BOCHNER_PRECISION {

void require_traits(const MixerSpec& spec) {
  const MixerTraits has = mixers().traits(spec.kind, spec);
  const char* kind = spec.kind.c_str();
  require(has.has_time_kernel(spec.time_kernel.kind), kind,
          "does not support time_kernel; set it to \"none\"");
  require(has.queries || (!spec.rotary && spec.normalize == "none"), kind,
          "has no queries and keys; positions must not be \"rotary\", and normalize must be "
          "\"none\"");
  require(has.times || spec.time.kind == "none", kind,
          "does not support times in queries and keys; set model.time.use = \"add\" or "
          "\"concatenate\"");
  require(has.window || spec.window == 0, kind, "does not support window; set it to 0");
}

void require_causal_step(bool causal, const std::string& kind) {
  require(causal, kind.c_str(), "step() requires a causal mixer");
}

void require_equal_distances(bool equal, const std::string& kind) {
  require(equal, kind.c_str(),
          "requires tokens at equal distances; use linear or softmax attention, or ssm with form = "
          "\"s5\"");
}

}  // namespace bochner::inline BOCHNER_PRECISION

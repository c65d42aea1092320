#include <bochner/layers/mixers/mixer_demands.hpp>

namespace bochner::inline BOCHNER_PRECISION {

void require_traits(const MixerSpec& spec) {
  const MixerTraits has = mixers().traits(spec.kind, spec);
  const char* kind = spec.kind.c_str();
  require(has.has_time_kernel(spec.time_kernel.kind), kind,
          "has a memory of its own, and no time kernel: wants time_kernel = \"none\"");
  require(has.queries || (!spec.rotary && spec.normalize == "none"), kind,
          "has no queries and keys to turn or to norm: wants positions other than \"rotary\" and "
          "normalize = \"none\"");
  require(has.times || spec.time.kind == "none", kind,
          "gives no times to queries and keys: wants model.time.use = \"add\" or \"concatenate\"");
  require(has.window || spec.window == 0, kind, "has no window: wants window = 0");
}

void require_causal_step(bool causal, const std::string& kind) {
  require(causal, kind.c_str(), "only a causal mixer can be computed token by token");
}

void require_equal_distances(bool equal, const std::string& kind) {
  require(equal, kind.c_str(),
          "needs tokens at equal distances; for others there are linear and softmax attention, and "
          "ssm with form = \"s5\"");
}

}  // namespace bochner::inline BOCHNER_PRECISION

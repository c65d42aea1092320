#include <bochner/layers/encodings/fused_projection.hpp>
#include <bochner/layers/encodings/space_time_kernels.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Registry<SpaceTimeEncoding, SpaceTimeSpec>& space_time_encodings() {
  static Registry<SpaceTimeEncoding, SpaceTimeSpec> registry(
      "space_time_encoding", {{"fused", make<FusedProjection>},
                              {"space", make<FusedProjection>},
                              {"time", make<FusedProjection>},
                              {"additive", make<AdditiveKernel>},
                              {"concatenated", make<AdditiveKernel>},
                              {"multiplicative", make<MultiplicativeKernel>}});
  return registry;
}

std::vector<std::string> space_time_names() {
  std::vector<std::string> names = space_time_encodings().names();
  names.push_back("none");
  return names;
}

std::unique_ptr<SpaceTimeEncoding> make_space_time(const SpaceTimeSpec& spec) {
  require(spec.time.dimensions == 1, "space_time_encoding", "time has one coordinate, not ",
          spec.time.dimensions);
  if (spec.kind == "none") return nullptr;
  return space_time_encodings().make(spec.kind, spec);
}

}  // namespace bochner::inline BOCHNER_PRECISION

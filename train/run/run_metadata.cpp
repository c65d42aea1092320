#include <fmt/format.h>
#include <tbb/version.h>

#include <bochner/autodiff/build_flags.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/system.hpp>
#include <bochner/base/xtensor.hpp>
#include <bochner/train/run/run_files.hpp>
#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner {
std::string run_metadata(const Config& config, const std::string& command,
                         const std::string& parent, const std::vector<std::string>& hosts) {
  Json meta = {{"format", format_version},
               {"command", command},
               {"version", BOCHNER_VERSION},
               {"precision", precision_name},
               {"build", build_flags()},
               {"compiler", compiler_name()},
               {"products", backend_name()},
               {"libraries",
                {{"xtensor", fmt::format("{}.{}.{}", XTENSOR_VERSION_MAJOR, XTENSOR_VERSION_MINOR,
                                         XTENSOR_VERSION_PATCH)},
                 {"TBB", TBB_runtime_version()},
                 {"glibc", glibc_version()}}},
               {"processor", processor_name()},
               {"threads", thread_count()},
               {"seed", config.integer("train.seed")}};
#ifdef BOCHNER_COMMIT
  meta.set("commit", BOCHNER_COMMIT);
#endif
  if (!parent.empty()) meta.set("parent", parent);
  if (hosts.size() > 1) meta.set("processes", hosts);
  return meta.lines();
}

void require_format(const std::string& meta, const std::string& run) {
  const Json json = Json::parse(meta);
  if (!json.is_object()) return;
  const std::uint64_t version = json["format"].count().value_or(0);
  if (version > format_version)
    throw DataError(run, ": format version ", version, ", this program reads ", format_version,
                    "; use a newer bochner");
  if (version < format_version) throw DataError(run, ": ", pre_release_error);
}

std::string parent_in(const std::string& meta) {
  const Json json = Json::parse(meta);
  const std::string* parent = json["parent"].text();
  return parent ? *parent : "";
}

}  // namespace bochner

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <tbb/version.h>

#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/train/format.hpp>
#include <bochner/train/run_metadata.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <xtensor/xtensor_config.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name"))
      return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown";
}

nlohmann::ordered_json library_versions() {
  return {{"xtensor", fmt::format("{}.{}.{}", XTENSOR_VERSION_MAJOR, XTENSOR_VERSION_MINOR,
                                  XTENSOR_VERSION_PATCH)},
          {"TBB", TBB_runtime_version()},
          {"glibc", gnu_get_libc_version()}};
}

std::string compiler_name() { return fmt::format("GCC {}", __VERSION__); }

}  // namespace

std::string backend_name() { return gemm_backend().name + " " + gemm_backend().kernel; }

std::string version_line() {
  return fmt::format("bochner {} · {}", BOCHNER_VERSION, backend_name());
}

std::string numerics_fingerprint() {
  return fmt::format("bochner {} {}, {}, {}, {}, glibc {}", BOCHNER_VERSION, precision_name,
                     BOCHNER_BUILD_FLAGS, compiler_name(), backend_name(), gnu_get_libc_version());
}

std::string version_text() {
  std::string text =
      fmt::format("bochner {} ({})\nproducts   {}\nbuild      {}, {}\nprocessor  {}, {}",
                  BOCHNER_VERSION, precision_name, backend_name(), BOCHNER_BUILD_FLAGS,
                  compiler_name(), processor_name(), format_number_of(thread_count(), "thread"));
  if (!gemm_backend().warning.empty()) text += "\nnote       " + gemm_backend().warning;
  return text;
}

std::string run_metadata(const Config& config, const std::string& command,
                         const std::string& parent) {
  nlohmann::ordered_json meta = {{"command", command},
                                 {"version", BOCHNER_VERSION},
                                 {"precision", precision_name},
                                 {"build", BOCHNER_BUILD_FLAGS},
                                 {"compiler", compiler_name()},
                                 {"products", backend_name()},
                                 {"libraries", library_versions()},
                                 {"processor", processor_name()},
                                 {"threads", thread_count()},
                                 {"seed", config.integer("train.seed")}};
#ifdef BOCHNER_COMMIT
  meta["commit"] = BOCHNER_COMMIT;
#endif
  if (!parent.empty()) meta["parent"] = parent;
  return meta.dump(2) + "\n";
}

std::string parent_in(const std::string& meta) {
  const auto json = nlohmann::json::parse(meta, nullptr, false);
  return json.is_object() ? json.value("parent", "") : "";
}

}  // namespace bochner::inline BOCHNER_PRECISION

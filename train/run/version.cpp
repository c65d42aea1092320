#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <bochner/autodiff/compute/amx.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/base/format.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/train/run/version.hpp>
#include <charconv>
#include <fstream>
#include <string_view>

namespace bochner {
namespace {

/// Raised where a change to the code changes bits of runs that there are already, so that resume
/// says so; no checkpoint before 2 has one.
constexpr int numerics_revision = 19;

}  // namespace

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.size(), line.find(':') + 2));
  return "unknown";
}

std::string compiler_name() { return fmt::format("GCC {}", __VERSION__); }

std::string backend_name() {
  return gemm_backend().name + " " + gemm_backend().kernel + (has_amx() ? " + AMX" : "");
}

std::string version_line() {
  return fmt::format("bochner {} · {}", BOCHNER_VERSION, backend_name());
}

std::string numerics_fingerprint() {
  return fmt::format("bochner {} {}, numerics {}, {}, {}, {}, glibc {}", BOCHNER_VERSION,
                     precision_name, numerics_revision, BOCHNER_BUILD_FLAGS, compiler_name(),
                     backend_name(), gnu_get_libc_version());
}

int revision_in(const std::string& numerics) {
  constexpr std::string_view word = ", numerics ";
  const std::size_t found = numerics.find(word);
  int revision = 1;
  if (found != numerics.npos)
    std::from_chars(numerics.data() + found + word.size(), numerics.data() + numerics.size(),
                    revision);
  return revision;
}

std::string other_revision(const std::string& numerics) {
  const int then = revision_in(numerics);
  if (then == numerics_revision) return "";
  return fmt::format("numerics {} then, {} now", then, numerics_revision);
}

std::string version_text() {
  std::string text =
      fmt::format("bochner {} ({})\nproducts   {}\nbuild      {}, {}\nprocessor  {}, {}",
                  BOCHNER_VERSION, precision_name, backend_name(), BOCHNER_BUILD_FLAGS,
                  compiler_name(), processor_name(), format_number_of(thread_count(), "thread"));
  if (!gemm_backend().warning.empty()) text += "\nnote       " + gemm_backend().warning;
  return text;
}

}  // namespace bochner

#include <fmt/format.h>

#include <bochner/autodiff/build_flags.hpp>
#include <bochner/autodiff/compute/bfloat16/amx.hpp>
#include <bochner/autodiff/compute/bfloat16/bfloat16_product.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/base/format.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/system.hpp>
#include <bochner/train/run/version.hpp>

namespace bochner {
std::string compiler_name() {
#ifdef __clang__
  return __VERSION__;
#else
  return fmt::format("GCC {}", __VERSION__);
#endif
}

std::string backend_name() {
  const char* unit = has_amx() ? " + AMX" : multiplies_pairs() ? " + BF16" : "";
  return gemm_backend().name + " " + gemm_backend().kernel + unit;
}

std::string version_line() {
  return fmt::format("bochner {} · {}", BOCHNER_VERSION, backend_name());
}

std::string numerics_fingerprint() {
  return fmt::format("bochner {} {}, {}, {}, {}, glibc {}", BOCHNER_VERSION, precision_name,
                     build_flags(), compiler_name(), backend_name(), glibc_version());
}

std::string numerics_difference(const std::string& then) {
  const std::string now = numerics_fingerprint();
  if (then == now) return "";
  return "another build or machine than the checkpoint's: " + now + " now, " + then + " then";
}

std::string version_text() {
  std::string text =
      fmt::format("bochner {} ({})\nproducts   {}\nbuild      {}, {}\nprocessor  {}, glibc {}",
                  BOCHNER_VERSION, precision_name, backend_name(), build_flags(), compiler_name(),
                  processor_name(), format_number_of(thread_count(), "thread"));
  if (!gemm_backend().warning.empty()) text += "\nnote       " + gemm_backend().warning;
  return text;
}

}  // namespace bochner

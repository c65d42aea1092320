#pragma once
/// Build and machine: for --version and the comparison of builds on resume.

#include <bochner/autodiff/real.hpp>
#include <string>
#include <string_view>

namespace bochner {

/// Returns "GCC 12.2.0".
std::string compiler_name();
/// Returns "oneDNN 2.6.3 avx512_core".
std::string backend_name();
/// Returns "bochner 1.0.0 · oneDNN 2.6.3 avx512_core".
std::string version_line();
/// Returns what bits depend on apart from the config: build, instruction set, libraries.
std::string numerics_fingerprint();
/// Compares a checkpoint's fingerprint with this program's; "" if they are equal.
std::string numerics_difference(const std::string& then);
/// Returns several lines for --version.
std::string version_text();
/// Returns LICENSES.md, in the program of single precision.
std::string_view license_text();
}  // namespace bochner

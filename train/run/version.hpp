#pragma once
/// What was built and what it runs on: for --version and the comparison of builds on resume.

#include <bochner/autodiff/real.hpp>
#include <string>

namespace bochner {

/// "AMD EPYC"
std::string processor_name();
/// "GCC 12.2.0"
std::string compiler_name();
/// "oneDNN 2.6.3 avx512_core"
std::string backend_name();
/// "bochner 0.1.0 · oneDNN 2.6.3 avx512_core"
std::string version_line();
/// What the bits of a run depend on besides its config: build, instruction set, libraries.
std::string numerics_fingerprint();
/// Names the fingerprint of a checkpoint and that of this program; "" if they are equal.
std::string numerics_difference(const std::string& then);
/// Several lines for --version.
std::string version_text();
}  // namespace bochner

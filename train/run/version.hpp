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
/// The revision of numerics that a fingerprint names; 1 of those that are older than such.
int revision_in(const std::string& numerics);
/// "numerics 14 then, 18 now"; "" where that is the revision of this program.
std::string other_revision(const std::string& numerics);
/// Several lines for --version.
std::string version_text();
}  // namespace bochner

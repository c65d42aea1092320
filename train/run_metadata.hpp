#pragma once
/// Where a run was made: for meta.json, --version and the comparison of builds on resume.

#include <bochner/train/config/config.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// "oneDNN 2.6.3 avx512_core"
std::string backend_name();
/// "bochner 0.1.0 · oneDNN 2.6.3 avx512_core"
std::string version_line();
/// What the bits of a run depend on besides its config: build, instruction set, libraries.
std::string numerics_fingerprint();
/// Several lines for --version.
std::string version_text();
/// The text of meta.json: command, versions, compiler, libraries, processor, threads, seed, the
/// commit that was built where it is known, and the checkpoint it was forked from.
std::string run_metadata(const Config& config, const std::string& command,
                         const std::string& parent = "");
/// The checkpoint in such a text that the run was forked from, or "".
std::string parent_in(const std::string& meta);

}  // namespace bochner::inline BOCHNER_PRECISION

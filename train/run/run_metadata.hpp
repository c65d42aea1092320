#pragma once
/// Where a run was made: meta.json.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Returns the text of meta.json: format version, command, versions, compiler, libraries,
/// processor, threads, seed, the commit that was built where it is known, the checkpoint it was
/// forked from, and the machine of each process where there are several.
std::string run_metadata(const Config& config, const std::string& command,
                         const std::string& parent = "",
                         const std::vector<std::string>& hosts = {});
/// Throws DataError, which begins with the name of the run, if its meta.json has another format
/// version. Accepts a damaged text: all that a resume needs has a version of its own.
void require_format(const std::string& meta, const std::string& run);
/// The checkpoint in such a text that the run was forked from, or "".
std::string parent_in(const std::string& meta);

}  // namespace bochner

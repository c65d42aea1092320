#pragma once
/// Origin of a run: meta.json.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Returns the text of meta.json: format version, command, versions, compiler, libraries,
/// processor, threads, seed, the built commit if known, the checkpoint that was forked, and the
/// machine of each process if there are several.
std::string run_metadata(const Config& config, const std::string& command,
                         const std::string& parent = "",
                         const std::vector<std::string>& hosts = {});
/// Throws DataError, which begins with the run's name, if its meta.json has another format version.
/// Accepts a damaged text: resume relies only on files with their own version.
void require_format(const std::string& meta, const std::string& run);
/// Returns the checkpoint that the run was forked from, or "".
std::string parent_in(const std::string& meta);

}  // namespace bochner

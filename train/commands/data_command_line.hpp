#pragma once
#include <CLI/CLI.hpp>
#include <bochner/train/commands/commands.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

/// The words of `data info|peek|convert`: they fill `options` and set `action`. Both must outlive
/// the parsing.
void add_data_commands(CLI::App& app, DataOptions& options, std::function<int()>& action);

}  // namespace bochner::inline BOCHNER_PRECISION

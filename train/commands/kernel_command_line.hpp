#pragma once
#include <CLI/CLI.hpp>
#include <bochner/train/commands/commands.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

/// What `kernel`, `kernel fit` and `kernel compare` are told.
struct KernelCommands {
  KernelOptions study;
  KernelFitOptions fit;
  KernelCompareOptions compare;
};
/// The words of these commands: they fill `options` and `threads` and set `action`, all of which
/// must outlive the parsing.
void add_kernel_commands(CLI::App& app, KernelCommands& options, std::size_t& threads,
                         std::function<int()>& action);

}  // namespace bochner::inline BOCHNER_PRECISION

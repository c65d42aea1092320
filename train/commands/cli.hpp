#pragma once
/// The whole program as a function: custom programs register their kernels and call cli().

namespace bochner {

/// Runs the command line `bochner ...`; returns the exit code.
int cli(int argc, char** argv) noexcept;

}  // namespace bochner

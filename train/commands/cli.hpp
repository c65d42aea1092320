#pragma once
/// The whole command as a library: a prototype registers its kernels and calls cli().

namespace bochner {

/// Runs the command line `bochner ...`; returns the exit code.
int cli(int argc, char** argv) noexcept;

}  // namespace bochner

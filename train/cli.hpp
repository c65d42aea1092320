#pragma once
/// The whole command as a library: a prototype registers its kernels and calls cli().

#include <bochner/autodiff/real.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Runs the command line `bochner ...`; returns the exit code.
int cli(int argc, char** argv);

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Ops that draw random numbers: functions of the tape's seed, step and the order of the ops.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// y = x / (1 - rate) with probability 1 - rate, else 0; the identity when the tape is not
/// training. (..) -> (..)
Var dropout(Tape& tape, const Var& x, real rate);

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// The training loop: steps, metrics, validation, checkpoints, and the reasons to stop.

#include <bochner/train/run/progress.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/signals.hpp>

namespace bochner::inline BOCHNER_PRECISION {

enum class StopReason { finished, no_improvement, time_limit, signal };

/// Trains until there is a reason to stop; the last checkpoint is on the disk when it returns.
/// Throws DivergedError, and IoError when the metrics or the last checkpoint cannot be written.
StopReason run_loop(Session& session, Progress& progress, SignalGuard& signals,
                    TapeObserver* observer = nullptr);

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Training loop: steps, metrics, validation, checkpoints, and the reasons to stop.

#include <bochner/train/run/log/progress.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/run/signals.hpp>

namespace bochner {

inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
enum class StopReason { finished, no_improvement, time_limit, signal, until };

/// Trains until there is a reason to stop, at the latest at step `until`, and saves. Throws
/// DivergedError, and IoError if the metrics or the last checkpoint cannot be written.
StopReason run_loop(Session& session, Progress& progress, SignalGuard& signals,
                    TapeObserver* observer = nullptr, std::uint64_t until = no_limit);

}  // namespace bochner

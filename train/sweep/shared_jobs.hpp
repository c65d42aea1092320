#pragma once
/// Jobs on all processes that were started together: the first one deals them out, and each runs
/// its share of them.

#include <bochner/train/distributed/processes.hpp>
#include <bochner/train/sweep/workers.hpp>

namespace bochner {

/// By the first process, while the others help_with_jobs(). A stop for which one of them was asked
/// is one of `signals`. Returns when no job runs.
void run_shared_jobs(Processes& processes, const JobShare& here, const JobQueue& queue,
                     SignalGuard& signals);

/// By the others: runs what the first process says, until that is all.
void help_with_jobs(Processes& processes, const JobShare& here, const SignalGuard& signals);

}  // namespace bochner

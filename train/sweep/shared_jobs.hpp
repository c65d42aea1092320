#pragma once
/// Distribution of jobs to all processes that were started together: the first one deals them out.

#include <bochner/train/distributed/processes.hpp>
#include <bochner/train/sweep/workers.hpp>

namespace bochner {

/// Runs the jobs, in the first process, while the others run help_with_jobs(). A stop that one of
/// them received counts as one of `signals`. Returns when no job runs.
void run_shared_jobs(Processes& processes, const JobShare& here, const JobQueue& queue,
                     SignalGuard& signals);

/// Runs the jobs from the first process, in the others, until it sends no more.
void help_with_jobs(Processes& processes, const JobShare& here, const SignalGuard& signals);

}  // namespace bochner

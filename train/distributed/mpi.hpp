#pragma once
/// Processes started by mpirun or srun --mpi=pmix, which alone load the MPI library.

#include <bochner/train/distributed/processes.hpp>

namespace bochner {

/// Returns the number of processes started by mpirun or srun, this one included; 1 without them.
std::size_t launched_processes();
/// Returns the number of processors of a process: its share, or those that it is bound to.
std::size_t shared_processors(const Processes& processes);
/// Gives this process its share of the machine's threads, unless a number was requested. Adds to
/// `notes` if it is bound to fewer processors.
void share_processors(std::size_t asked, const Processes& processes,
                      std::vector<std::string>& notes);
/// Returns the environment without the launcher's variables, for child programs.
std::vector<char*> environment_alone();
/// Returns the processes that were started together; a single one without a launcher. To be called
/// once, from the main thread. Throws std::invalid_argument if this build has no MPI, its library
/// cannot be loaded, or the processes cannot find each other.
Processes launched_together();
/// Returns "Open MPI 4.1.4, loaded under mpirun" or what is missing, for --version.
std::string mpi_in_words();

}  // namespace bochner

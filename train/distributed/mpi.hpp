#pragma once
/// Processes that mpirun, or srun --mpi=pmix, has started. The library of MPI is loaded only there:
/// a program that runs alone knows nothing of it.

#include <bochner/train/distributed/processes.hpp>

namespace bochner {

/// How many processes mpirun or srun has started, this one among them; 1 where neither has.
std::size_t launched_processes();
/// The processors of its machine that a process may use: its share of them, or those to which it is
/// bound.
std::size_t shared_processors(const Processes& processes);
/// Gives this process its share of the machine's threads, unless a number of them was asked for.
/// Where it is bound to fewer processors, it goes to `notes`.
void share_processors(std::size_t asked, const Processes& processes,
                      std::vector<std::string>& notes);
/// The environment, but for what the launcher says of this process: for programs that it starts.
std::vector<char*> environment_alone();
/// The processes that were started together; alone where there are no others. Once in a program,
/// from its main thread. Throws std::invalid_argument where this build has no MPI, its library
/// cannot be loaded, or the processes cannot find each other.
Processes launched_together();
/// For --version: "Open MPI 4.1.4, loaded under mpirun" or what is missing.
std::string mpi_in_words();

}  // namespace bochner

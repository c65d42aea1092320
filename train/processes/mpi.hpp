#pragma once
/// Processes that mpirun has started. The library of MPI is loaded only there: a program that runs
/// alone knows nothing of it.

#include <bochner/train/processes/processes.hpp>

namespace bochner {

/// How many processes mpirun has started, this one among them; 1 where it has not.
std::size_t launched_processes();
/// Which of them this is.
std::size_t launched_rank();
/// Gives this process its share of the machine's threads, unless a number of them was asked for.
/// Where mpirun has bound it to fewer processors, it goes to `notes`.
void share_processors(std::size_t asked, std::vector<std::string>& notes);
/// The processes that were started together; alone where there are no others. Once in a program,
/// from its main thread. Throws std::invalid_argument where this build has no MPI, or its library
/// cannot be loaded.
Processes launched_together();
/// For --version: "Open MPI 4.1.4, loaded under mpirun" or what is missing.
std::string mpi_in_words();

}  // namespace bochner

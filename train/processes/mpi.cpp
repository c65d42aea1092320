#include <dlfcn.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/train/processes/mpi.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#ifdef BOCHNER_MPI
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace bochner {
namespace {

/// What mpirun says of a process; 0 where it has not started this one.
std::size_t told_by_mpirun(const char* name) {
  const char* text = std::getenv(name);
  std::size_t number = 0;
  if (text) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

}  // namespace

std::size_t launched_processes() {
  return std::max<std::size_t>(1, told_by_mpirun("OMPI_COMM_WORLD_SIZE"));
}

std::size_t launched_rank() { return told_by_mpirun("OMPI_COMM_WORLD_RANK"); }

void share_processors(std::size_t asked, std::vector<std::string>& notes) {
  const std::size_t here = std::max<std::size_t>(1, told_by_mpirun("OMPI_COMM_WORLD_LOCAL_SIZE"));
  const auto all = std::size_t(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t set;
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  const std::size_t allowed = known ? std::size_t(CPU_COUNT(&set)) : all;
  const std::size_t wanted = asked > 0 ? asked : std::max<std::size_t>(1, all / here);
  if (asked == 0) set_thread_count(std::min(wanted, allowed));
  if (allowed < wanted)
    notes.push_back(in_words("mpirun lets a process use ", allowed, " of ", all,
                             " processors, with ", wanted,
                             " threads in mind; give mpirun the option --bind-to none"));
}

#ifdef BOCHNER_MPI
namespace {

/// What is used of the library, under its own names.
struct MpiLibrary {
  decltype(&::MPI_Init_thread) init;
  decltype(&::MPI_Comm_rank) rank;
  decltype(&::MPI_Comm_size) size;
  decltype(&::MPI_Isend) send;
  decltype(&::MPI_Irecv) receive;
  decltype(&::MPI_Test) test;
  decltype(&::MPI_Finalize) finalize;
  MPI_Comm world;
  MPI_Datatype byte;
};

template <class Symbol>
void find(void* library, const char* name, Symbol& symbol) {
  symbol = reinterpret_cast<Symbol>(::dlsym(library, name));
  if (!symbol) throw std::invalid_argument(std::string("libmpi.so.40 has no ") + name);
}

MpiLibrary load_mpi() {
  // Global: the components that Open MPI loads in turn look for its symbols there.
  void* library = ::dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    throw std::invalid_argument(
        "mpirun: the library of Open MPI 4 cannot be loaded, install it (Debian: libopenmpi3): " +
        std::string(::dlerror()));
  MpiLibrary mpi;
  find(library, "MPI_Init_thread", mpi.init);
  find(library, "MPI_Comm_rank", mpi.rank);
  find(library, "MPI_Comm_size", mpi.size);
  find(library, "MPI_Isend", mpi.send);
  find(library, "MPI_Irecv", mpi.receive);
  find(library, "MPI_Test", mpi.test);
  find(library, "MPI_Finalize", mpi.finalize);
  find(library, "ompi_mpi_comm_world", mpi.world);
  find(library, "ompi_mpi_byte", mpi.byte);
  return mpi;
}

/// Errors of MPI end the job: it tells them itself.
class MpiTransport : public Transport {
 public:
  MpiTransport() : mpi_(load_mpi()) {
    // Passes of shards take turns on threads of their own.
    int provided = 0;
    mpi_.init(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (provided < MPI_THREAD_SERIALIZED)
      throw std::invalid_argument("mpirun: this MPI is not for programs with threads");
    mpi_.rank(mpi_.world, &rank_);
    mpi_.size(mpi_.world, &size_);
  }

  std::size_t rank() const override { return std::size_t(rank_); }
  std::size_t size() const override { return std::size_t(size_); }

  void send(std::size_t to, const void* data, std::size_t bytes) override {
    const char* from = static_cast<const char*>(data);
    for_pieces(bytes, [&](std::size_t begin, int count, MPI_Request& request) {
      mpi_.send(from + begin, count, mpi_.byte, int(to), 0, mpi_.world, &request);
    });
  }

  void receive(std::size_t from, void* data, std::size_t bytes) override {
    char* to = static_cast<char*>(data);
    for_pieces(bytes, [&](std::size_t begin, int count, MPI_Request& request) {
      mpi_.receive(to + begin, count, mpi_.byte, int(from), 0, mpi_.world, &request);
    });
  }

  void end() override { mpi_.finalize(); }

 private:
  static constexpr std::size_t largest = std::size_t(1) << 30;  // counts are int

  template <class Begin>
  void for_pieces(std::size_t bytes, const Begin& begin) {
    for (std::size_t done = 0; done < bytes; done += largest) {
      MPI_Request request;
      begin(done, int(std::min(largest, bytes - done)), request);
      wait(request);
    }
  }

  /// MPI_Wait would keep a processor busy that others compute on, however long it takes.
  void wait(MPI_Request& request) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    for (int done = 0; true;) {
      mpi_.test(&request, &done, MPI_STATUS_IGNORE);
      if (done) return;
      if (Clock::now() - start < std::chrono::microseconds(200))
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  MpiLibrary mpi_;
  int rank_ = 0, size_ = 1;
};

}  // namespace

Processes launched_together() {
  if (launched_processes() == 1) return {};
  return Processes(std::make_unique<MpiTransport>());
}

std::string mpi_in_words() {
  return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + ", loaded under mpirun";
}

#else

Processes launched_together() {
  if (launched_processes() == 1) return {};
  throw std::invalid_argument(
      "mpirun: this build has no MPI (BOCHNER_MPI=OFF); start it without mpirun, or build it where "
      "libopenmpi-dev is installed");
}

std::string mpi_in_words() { return "none; a build with libopenmpi-dev has it"; }

#endif

}  // namespace bochner

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/system.hpp>
#include <bochner/train/distributed/mpi.hpp>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#ifdef BOCHNER_MPI
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace bochner {
namespace {

/// Returns a number that the launcher set for this process; nothing without such a launcher.
std::optional<std::size_t> launcher_number(const char* name) {
  const char* text = std::getenv(name);
  std::size_t number = 0;
  if (!text || std::from_chars(text, text + std::strlen(text), number).ec != std::errc())
    return std::nullopt;
  return number;
}

bool by_mpirun() { return launcher_number("OMPI_COMM_WORLD_SIZE").has_value(); }

/// Whether MPI can find the others, as under mpirun and srun --mpi=pmix.
bool can_meet() {
  return by_mpirun() || (std::getenv("PMIX_NAMESPACE") && std::getenv("PMIX_RANK"));
}

/// Throws if processes cannot find each other: they would be N runs in the same directory.
void require_meeting() {
  if (!can_meet())
    throw std::invalid_argument(
        in_words(launched_processes(),
                 " processes were started but cannot find each other; give "
                 "srun the option --mpi=pmix, or use mpirun of Open MPI 4. For independent "
                 "runs: env -u SLURM_STEP_NUM_TASKS -u PMI_SIZE before the command"));
}

std::size_t processors() { return std::size_t(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

std::size_t share_of_machine(const Processes& processes) {
  const std::vector<std::string>& hosts = processes.hosts();
  const auto here = std::size_t(std::ranges::count(hosts, hosts[processes.rank()]));
  return std::max<std::size_t>(1, processors() / here);
}

}  // namespace

std::size_t launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"})
    if (const auto count = launcher_number(name)) return std::max<std::size_t>(1, *count);
  return 1;
}

std::size_t shared_processors(const Processes& processes) {
  const std::size_t share = share_of_machine(processes), allowed = allowed_processors();
  return allowed == 0 ? share : std::min(share, allowed);
}

void share_processors(std::size_t asked, const Processes& processes,
                      std::vector<std::string>& notes) {
  const std::size_t all = processors(), allowed = allowed_processors();
  const std::size_t wanted = asked > 0 ? asked : share_of_machine(processes);
  if (asked == 0) set_thread_count(std::min(wanted, allowed));
  if (allowed < wanted)
    notes.push_back(in_words(by_mpirun() ? "mpirun" : "srun", " binds a process to ", allowed,
                             " of ", all, " processors, fewer than its ", wanted, " threads; give ",
                             by_mpirun() ? "mpirun the option --bind-to none"
                                         : "srun the option --cpus-per-task or --cpu-bind=none"));
}

std::vector<char*> environment_alone() {
  std::vector<char*> words;
  for (char** word = environ; *word; ++word) {
    const std::string_view text = *word;
    const bool by_launcher =
        std::ranges::any_of(std::array{"OMPI_", "PMIX_", "PMI_", "SLURM_STEP_NUM_TASKS="},
                            [&](const char* start) { return text.starts_with(start); });
    if (!by_launcher) words.push_back(*word);
  }
  return words;
}

#ifdef BOCHNER_MPI
namespace {

/// Functions of the MPI library, under its own names.
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
  // RTLD_GLOBAL: the components that Open MPI loads in turn look for its symbols there.
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

/// Returns the largest message. Above 64 KiB the TCP transport of Open MPI sends only the beginning
/// before the receiver has answered, and a computing receiver answers late: smaller pieces are sent
/// at once. On one machine the receiver fetches the whole message.
std::size_t largest_message() {
  const bool on_one_machine = launcher_number("OMPI_COMM_WORLD_LOCAL_SIZE") == launched_processes();
  return std::size_t(1) << (on_one_machine ? 30 : 15);
}

/// Transport by MPI, whose errors end the job with its own message.
class MpiTransport : public Transport {
 public:
  MpiTransport() : mpi_(load_mpi()) {
    // Passes of shards take turns on separate threads.
    int provided = 0;
    mpi_.init(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (provided < MPI_THREAD_SERIALIZED)
      throw std::invalid_argument("mpirun: this MPI does not support threads");
    mpi_.rank(mpi_.world, &rank_);
    mpi_.size(mpi_.world, &size_);
  }

  std::size_t rank() const override { return std::size_t(rank_); }
  std::size_t size() const override { return std::size_t(size_); }

  Ticket begin_send(std::size_t to, std::size_t channel, const void* data,
                    std::size_t bytes) override {
    const char* from = static_cast<const char*>(data);
    return begin(bytes, [&](std::size_t place, int count, MPI_Request& request) {
      mpi_.send(from + place, count, mpi_.byte, int(to), int(channel), mpi_.world, &request);
    });
  }

  Ticket begin_receive(std::size_t from, std::size_t channel, void* data,
                       std::size_t bytes) override {
    char* to = static_cast<char*>(data);
    return begin(bytes, [&](std::size_t place, int count, MPI_Request& request) {
      mpi_.receive(to + place, count, mpi_.byte, int(from), int(channel), mpi_.world, &request);
    });
  }

  // MPI_Wait would keep a processor busy that others need, however long it takes.
  bool is_over(Ticket ticket) override {
    std::vector<MPI_Request>& requests = under_way_.at(ticket);
    for (int done = 0; !requests.empty(); requests.pop_back()) {
      mpi_.test(&requests.back(), &done, MPI_STATUS_IGNORE);
      if (!done) return false;
    }
    under_way_.erase(ticket);
    return true;
  }

  void end() override { mpi_.finalize(); }

 private:
  template <class Begin>
  Ticket begin(std::size_t bytes, const Begin& begin_piece) {
    std::vector<MPI_Request>& requests = under_way_[++last_ticket_];
    for (std::size_t done = 0; done < bytes; done += largest_)
      begin_piece(done, int(std::min(largest_, bytes - done)), requests.emplace_back());
    return last_ticket_;
  }

  MpiLibrary mpi_;
  int rank_ = 0, size_ = 1;
  const std::size_t largest_ = largest_message();
  std::map<Ticket, std::vector<MPI_Request>> under_way_;
  Ticket last_ticket_ = 0;
};

}  // namespace

Processes launched_together() {
  const std::size_t count = launched_processes();
  if (count == 1) return {};
  require_meeting();
  Processes processes(std::make_unique<MpiTransport>());
  if (processes.size() != count)
    throw std::invalid_argument(
        in_words("MPI finds ", processes.size(), " of the ", count,
                 " started processes: the launcher's PMIx does not match Open MPI 4; "
                 "start them by mpirun"));
  return processes;
}

std::string mpi_in_words() {
  return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + ", loaded under mpirun";
}

#else

Processes launched_together() {
  if (launched_processes() == 1) return {};
  require_meeting();
  throw std::invalid_argument(
      "mpirun: this build has no MPI (BOCHNER_MPI=OFF); start it without mpirun, or build it where "
      "libopenmpi-dev is installed");
}

std::string mpi_in_words() { return "none; build with libopenmpi-dev"; }

#endif

}  // namespace bochner

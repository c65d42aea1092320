#include <fcntl.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/base/system.hpp>
#include <fstream>

namespace bochner {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.size(), line.find(':') + 2));
  return "unknown";
}

std::string glibc_version() { return gnu_get_libc_version(); }

std::uint64_t resident_bytes() {
  std::uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * std::uint64_t(::sysconf(_SC_PAGESIZE));
}

std::size_t allowed_processors() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::size_t(CPU_COUNT(&set)) : 0;
}

void prefer_huge_pages(void* block, std::size_t size) { ::madvise(block, size, MADV_HUGEPAGE); }

void end_with_parent(int signal) { ::prctl(PR_SET_PDEATHSIG, signal); }

void close_files_on_exec() {
  // close_range() itself needs glibc 2.34, the call Linux 5.11.
  constexpr int first = 3, close_range = 436, on_exec = 4;
  if (::syscall(close_range, first, ~0U, on_exec) == 0) return;
  constexpr long most = 1 << 16;  // the limit may be 2^30, or none
  const long limit = ::sysconf(_SC_OPEN_MAX), end = limit < 0 ? most : std::min(limit, most);
  for (int file = first; file < end; ++file) ::fcntl(file, F_SETFD, FD_CLOEXEC);
}

}  // namespace bochner

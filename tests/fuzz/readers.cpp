/// Fuzzer of the readers of files and configs.
///   readers READER|all N SEED [FIRST]   executions FIRST to FIRST + N - 1, each a function of
///                                       (SEED, its number); exits with 1 when a reader fails
///   readers --self-test                 readers with a bug must fail
/// A reader may return or throw a DataError of one line. It must not crash, throw anything else,
/// read outside its input (which ends at an unreadable page), or use more memory than its bound.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/errors.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>

#include "fuzz/targets.hpp"

namespace {

std::size_t live = 0, most = 0;  // bytes from operator new

void* counted(void* memory) {
  if (!memory) throw std::bad_alloc();
  live += ::malloc_usable_size(memory);
  most = std::max(most, live);
  return memory;
}

void discount(void* memory) {
  if (memory) live -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(size);
  return memory ? counted(memory) : nullptr;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto boundary = std::size_t(alignment);
  return counted(std::aligned_alloc(boundary, bochner::round_up(size, boundary)));
}
void operator delete(void* memory) noexcept { discount(memory); }
void operator delete(void* memory, std::size_t) noexcept { discount(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { discount(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { discount(memory); }

namespace bochner {
namespace {

constexpr std::size_t megabyte = 1 << 20;
constexpr std::uint64_t self_test_executions = 2000;

/// Memory that ends at an unreadable page.
class GuardedBytes {
 public:
  GuardedBytes() : page_(std::size_t(::sysconf(_SC_PAGESIZE))) {
    void* memory = ::mmap(nullptr, megabyte + page_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    end_ = static_cast<std::uint8_t*>(memory) + megabyte;
    if (::mprotect(end_, page_, PROT_NONE) != 0) throw std::bad_alloc();
  }
  /// Copies the bytes to the end of the memory.
  ByteSpan hold(const std::string& bytes) {
    std::memcpy(end_ - bytes.size(), bytes.data(), bytes.size());
    return {end_ - bytes.size(), bytes.size()};
  }

 private:
  std::size_t page_;
  std::uint8_t* end_;
};

/// Counters shared by parent and child.
struct Progress {
  std::uint64_t execution, accepted, refused;
};

/// Returns what the reader did wrong, or "".
std::string execute(const Target& target, const std::string& input, ByteSpan guarded, Draws& draws,
                    Progress& progress) {
  const std::size_t before = live;
  most = live;
  try {
    target.read(guarded, draws);
    ++progress.accepted;
  } catch (const DataError& error) {
    const std::string message = error.what();
    if (message.empty() || message.find('\n') != message.npos) return "says: " + message;
    ++progress.refused;
  } catch (const std::exception& error) {
    return std::string("throws: ") + error.what();
  }
  if (most - before > megabyte + target.memory * input.size())
    return "uses " + std::to_string(most - before) + " bytes of memory";
  return "";
}

int fuzz(const Target& target, std::uint64_t count, std::uint64_t seed, std::uint64_t first,
         Progress& progress) {
  GuardedBytes guarded;
  for (std::uint64_t i = first; i < first + count; ++i) {
    progress.execution = i;
    Draws draws(RandomFunction{seed, Purpose::test, i});
    const std::string input = target.make(target, draws);
    const std::string problem = execute(target, input, guarded.hold(input), draws, progress);
    if (problem.empty()) continue;
    std::cerr << target.name << " " << problem << "\n";
    return 1;
  }
  return 0;
}

/// Runs in a child process to detect crashes. Returns whether nothing was found.
bool run(const Target& target, std::uint64_t count, std::uint64_t seed, std::uint64_t first) {
  auto* progress = static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED) throw std::bad_alloc();
  const pid_t child = ::fork();
  if (child == 0) std::_Exit(fuzz(target, count, seed, first, *progress));
  int status = 0;
  ::waitpid(child, &status, 0);
  const Progress end = *progress;
  ::munmap(progress, sizeof(Progress));
  if (status == 0) {
    std::cout << target.name << ": " << count << " executions clean, " << end.accepted
              << " files accepted, " << end.refused << " refused" << std::endl;
    return true;
  }
  std::cout << target.name << " failed"
            << (WIFSIGNALED(status) ? " by signal " + std::to_string(WTERMSIG(status)) : "")
            << "; repeat with: " << target.name << " 1 " << seed << " " << end.execution
            << std::endl;
  return false;
}

int self_test() {
  int missed = 0;
  for (const Target& target : broken_targets()) missed += run(target, self_test_executions, 1, 0);
  std::cout << missed << " bugs missed of " << broken_targets().size() << std::endl;
  return missed == 0 ? 0 : 1;
}

int main_of(const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"--self-test"}) return self_test();
  if (words.size() < 3 || words.size() > 4) {
    std::cerr << "usage: readers READER|all N SEED [FIRST] | --self-test\n";
    return 2;
  }
  const std::uint64_t first = words.size() == 4 ? std::stoull(words[3]) : 0;
  int failed = 0, found = 0;
  const auto run_named = [&](const std::vector<Target>& group, const std::string& wanted) {
    for (const Target& target : group) {
      if (wanted != "all" && wanted != target.name) continue;
      ++found;
      failed += !run(target, std::stoull(words[1]), std::stoull(words[2]), first);
    }
  };
  run_named(targets(), words[0]);
  run_named(run_targets(), words[0]);
  if (words[0] != "all") run_named(broken_targets(), words[0]);
  if (found == 0) std::cerr << words[0] << ": unknown reader\n";
  return failed > 0 || found == 0 ? 1 : 0;
}

}  // namespace
}  // namespace bochner

int main(int argc, char** argv) { return bochner::main_of({argv + 1, argv + argc}); }

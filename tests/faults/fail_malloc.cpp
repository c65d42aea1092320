/// Preloaded into a program (LD_PRELOAD): FAIL_COUNT allocations from number FAIL_FROM on return
/// nullptr. At exit, their total number is written to the file FAIL_REPORT.

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<unsigned long> calls, first, count;

unsigned long number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::strtoul(text, nullptr, 10) : 0;
}

bool fails() {
  const unsigned long call = ++calls;
  if (call == 1) {
    first = number("FAIL_FROM");
    count = number("FAIL_COUNT");
  }
  if (first == 0 || call < first || call - first >= count) return false;
  errno = ENOMEM;
  return true;
}

__attribute__((destructor)) void report() {
  const char* path = std::getenv("FAIL_REPORT");
  const unsigned long made = calls;
  std::FILE* file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return;
  std::fprintf(file, "%lu\n", made);
  std::fclose(file);
}

}  // namespace

extern "C" {
void* malloc(std::size_t bytes) noexcept { return fails() ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t items, std::size_t bytes) noexcept {
  return fails() ? nullptr : __libc_calloc(items, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
  return fails() ? nullptr : __libc_realloc(old, bytes);
}
void* memalign(std::size_t to, std::size_t bytes) noexcept {
  return fails() ? nullptr : __libc_memalign(to, bytes);
}
void* aligned_alloc(std::size_t to, std::size_t bytes) noexcept { return memalign(to, bytes); }
int posix_memalign(void** result, std::size_t to, std::size_t bytes) noexcept {
  void* piece = memalign(to, bytes);
  if (!piece) return ENOMEM;
  *result = piece;
  return 0;
}
}

#include <fcntl.h>
#include <unistd.h>

#include <bochner/train/commands/first_instruction.hpp>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>
#include <utility>

// Of OpenBLAS, whose library starts its threads as it is loaded, unless there is to be one.
extern "C" {
extern int blas_cpu_number __attribute__((weak));
extern int blas_num_threads __attribute__((weak));
}

namespace bochner {

const char* out_of_memory = usual_memory_advice;

namespace {

void write_line(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) >= 0 && ::write(STDERR_FILENO, "\n", 1) >= 0)
    return;
}

/// Where memory fails in a place that cannot throw, or even for the words of an error.
[[noreturn]] void end_without_memory() {
  write_line(out_of_memory);
  _exit(1);
}

/// What the compiler has taken for granted would be an illegal instruction soon.
void require_processor() {
  bool fits = true;
  __builtin_cpu_init();
#ifdef __AVX2__
  fits = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
#endif
#ifdef __AVX512F__
  fits = fits && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
#endif
  if (fits) return;
  write_line(
      "this program is built for newer processors than this one (x86-64-v3 has AVX2 and FMA, since "
      "about 2013); build it here, from source");
  _exit(1);
}

/// A file of a run that took the place of a closed one would get what is printed. Opened the wrong
/// way round: reading and writing still fail.
void keep_standard_places() {
  for (const int place : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(place, F_GETFD) < 0 &&
        ::open("/dev/null", place == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      return;
}

std::terminate_handler usual_end = nullptr;

[[noreturn]] void end_program() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
    // Not even an exception can be made.
    void* piece = std::malloc(1 << 10);
    if (!piece) end_without_memory();
    std::free(piece);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (...) {
  }
  usual_end();
  std::abort();
}

// The loader calls it before it starts any library.
__attribute__((section(".preinit_array"), used)) void (*const first_instruction)() = begin_program;

}  // namespace

void begin_program() {
  static bool has_begun = false;
  if (std::exchange(has_begun, true)) return;
  keep_standard_places();
  require_processor();
  if (&blas_cpu_number) blas_cpu_number = 1;
  if (&blas_num_threads) blas_num_threads = 1;
}

void hold_program() {
  hold_signals();
  usual_end = std::set_terminate(end_program);
}

HeldProgram::HeldProgram() {
  begin_program();
  if (usual_end) return;
  signals_.emplace();
  usual_end = std::set_terminate(end_program);
}

HeldProgram::~HeldProgram() {
  if (signals_) std::set_terminate(std::exchange(usual_end, nullptr));
}

}  // namespace bochner

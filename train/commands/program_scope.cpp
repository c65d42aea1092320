#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <bochner/base/processor/features.hpp>
#include <bochner/train/commands/program_scope.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>

// Override the variables of these names in OpenBLAS, which reads them when it is loaded and then
// starts no threads. Its threads would receive the signals that this process holds.
extern "C" {
int blas_num_threads = 1;
int blas_cpu_number = 1;
}

namespace bochner {

const char* out_of_memory = usual_memory_advice;

namespace {

[[noreturn]] void end_with(const char* line) {
  std::fputs(line, stderr);  // unbuffered: it allocates nothing
  std::fputs("\n", stderr);
  _exit(1);
}

/// Exits with one line instead of dying of an illegal instruction.
void require_processor() {
  if (!fits_build())
    end_with(
        "this program is built for newer processors than this one (x86-64-v3 has AVX2 and FMA, "
        "since about 2013); build it here, from source");
}

/// Opens closed standard streams, or the next opened file would receive the output. Each is opened
/// for the other direction, so that using it still fails.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 &&
        ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      return;
}

/// Terminate handler: memory may be too short to throw or handle an exception.
[[noreturn]] void end_program() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
    void* piece = std::malloc(1 << 10);
    if (!piece) end_with(out_of_memory);
    std::free(piece);
  } catch (const std::bad_alloc&) {
    end_with(out_of_memory);
  } catch (...) {
  }
  __gnu_cxx::__verbose_terminate_handler();
  std::abort();
}

}  // namespace

void begin_program() {
  open_standard_streams();
  require_processor();
  hold_signals();
  std::set_terminate(end_program);
}

}  // namespace bochner

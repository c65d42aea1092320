#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/lanes.hpp>
#include <bochner/base/processor/features.hpp>
#include <bochner/base/processor/fused.hpp>
#include <bochner/base/processor/opaque.hpp>
#include <bochner/base/system.hpp>
#include <bochner/train/commands/bench/measure.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/run/signals.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <new>
#include <thread>

namespace bochner {
namespace {

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(file, buffer, sizeof buffer)) > 0;) text.append(buffer, count);
  return text;
}

enum class Ending : int { done, failed, out_of_memory, wrong_usage };

[[noreturn]] void end_as(Ending ending) { _exit(int(ending)); }

/// Runs `body` in the child and exits without destructors, which belong to the parent.
[[noreturn]] void run_child(int file, const std::function<std::string()>& body) {
  receive_signals_here();
  try {
    dprintf(file, "%s", body().c_str());
    end_as(Ending::done);
  } catch (const std::bad_alloc&) {
    end_as(Ending::out_of_memory);
  } catch (const std::length_error&) {  // more than any memory holds
    end_as(Ending::out_of_memory);
  } catch (const std::invalid_argument& error) {
    dprintf(file, "%s", error.what());
    end_as(Ending::wrong_usage);
  } catch (const std::exception& error) {
    dprintf(file, "%s", error.what());
    end_as(Ending::failed);
  }
}

int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error("lost the child process");
  return status;
}

/// Independent chains: more than latency times units of any processor, and all fit in registers.
constexpr std::size_t chains = 12;
constexpr std::size_t rounds = 160'000'000;

typedef real Wide __attribute__((vector_size(64)));
typedef real Narrow __attribute__((vector_size(32)));

template <class Vector>
[[gnu::always_inline]] inline real multiply_add(std::size_t count) {
  Vector sums[chains], factor = Vector{} + real(0.999), term = Vector{} + real(0.001);
  for (std::size_t c = 0; c < chains; ++c) sums[c] = Vector{} + real(c);
  make_opaque(factor), make_opaque(term);
  for (std::size_t i = 0; i < count; ++i) {
#pragma GCC unroll 12
    for (std::size_t c = 0; c < chains; ++c) sums[c] = fused(sums[c], factor, term);
  }
  for (std::size_t c = 1; c < chains; ++c) sums[0] += sums[c];
  return sums[0][0];
}

BOCHNER_WIDE_VECTORS real wide(std::size_t count) { return multiply_add<Wide>(count); }
BOCHNER_NARROW_VECTORS real narrow(std::size_t count) { return multiply_add<Narrow>(count); }

}  // namespace

void require_measurable(const char* option, std::size_t count) {
  constexpr std::size_t most = 1 << 20;
  demand(count > 0 && count <= most, "{} {}: must be between 1 and {}", option, count, most);
}

std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe to a child process");
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    end_with_parent(SIGKILL);  // with the parent, which reads the result
    if (getppid() != parent) end_as(Ending::failed);
    run_child(ends[1], body);
  }
  close(ends[1]);
  const std::string text = child > 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  if (child < 0) throw std::runtime_error("cannot start a child process");
  const int status = status_of(child);
  if (WIFSIGNALED(status))
    throw std::runtime_error("killed by signal " + std::to_string(WTERMSIG(status)) +
                             ", possibly out of memory");
  const Ending ending{WEXITSTATUS(status)};
  if (ending == Ending::out_of_memory) throw std::bad_alloc();
  if (ending == Ending::wrong_usage) throw std::invalid_argument(text);
  if (ending != Ending::done) throw std::runtime_error(text);
  return text;
}

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) * 1024;
}

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_seconds(const std::function<void()>& pass) {
  const double first = seconds_of(pass);
  std::vector<double> times(std::size_t(std::clamp(0.5 / first, first > 2 ? 1.0 : 3.0, 25.0)));
  for (double& time : times) time = seconds_of(pass);
  return median(std::move(times));
}

namespace {

using Clock = std::chrono::steady_clock;

struct Pass {
  std::vector<Clock::time_point> begun, ended;
  double seconds() const {
    return std::chrono::duration<double>(std::ranges::max(ended) - std::ranges::min(begun)).count();
  }
};

/// Returns the shortest of ten times that `threads` threads take for body(thread), after a barrier.
template <class Body>
double shortest_seconds(std::size_t threads, const Body& body) {
  const std::vector<Clock::time_point> of_threads(threads);
  std::vector<Pass> passes(10, {of_threads, of_threads});
  std::barrier together{std::ptrdiff_t(threads)};
  const auto run = [&](std::size_t thread) {
    for (Pass& pass : passes) {
      together.arrive_and_wait();
      pass.begun[thread] = Clock::now();
      body(thread);
      pass.ended[thread] = Clock::now();
    }
  };
  {
    std::vector<std::jthread> workers;
    try {
      for (std::size_t thread = 0; thread < threads; ++thread) workers.emplace_back(run, thread);
    } catch (...) {
      for (std::size_t thread = workers.size(); thread < threads; ++thread)
        together.arrive_and_drop();
      throw;
    }
  }
  return std::ranges::min_element(passes, {}, &Pass::seconds)->seconds();
}

}  // namespace

double measure_peak(std::size_t threads) {
  // Uses the vectors that products use, which ONEDNN_MAX_CPU_ISA may limit.
  const bool is_wide = has_avx512() && gemm_backend().kernel.starts_with("avx512");
  const std::size_t count = rounds / chains;
  const double operations =
      2.0 * double(count * chains * (is_wide ? sizeof(Wide) : sizeof(Narrow)) / sizeof(real));
  std::vector<real> results(threads);
  const double seconds = shortest_seconds(threads, [&](std::size_t thread) {
    results[thread] = is_wide ? wide(count) : narrow(count);
  });
  return double(threads) * operations / seconds;
}

double measure_triad(std::size_t threads) {
  const std::size_t part = (std::size_t(64) << 20) / native_bytes / threads;
  std::vector<real> x(part * threads * native_lane_count, 1), y = x, z = x;
  const double seconds = shortest_seconds(threads, [&](std::size_t thread) {
    NativeLanes* to = &lanes_at(x.data());
    const NativeLanes *from = &lanes_at(y.data()), *other = &lanes_at(z.data());
    for (std::size_t i = thread * part; i < (thread + 1) * part; ++i)
      to[i] = from[i] + real(0.5) * other[i];
  });
  return 3 * double(x.size() * sizeof(real)) / seconds;
}

double measure_reading(std::size_t bytes, std::size_t threads) {
  constexpr std::size_t at_once = 8, most = std::size_t(1) << 28;  // bytes per thread in all passes
  const std::size_t part = 1 + bytes / threads / (at_once * native_bytes);  // groups of vectors
  const std::size_t passes = 1 + most / (part * at_once * native_bytes);
  std::vector<real> x(threads * part * at_once * native_lane_count, 1), sums(threads);
  const double seconds = shortest_seconds(threads, [&](std::size_t thread) {
    const NativeLanes* from = &lanes_at(x.data()) + thread * part * at_once;
    NativeLanes sum[at_once] = {};
    for (std::size_t pass = 0; pass < passes; ++pass)
      for (std::size_t i = 0; i < part * at_once; i += at_once)
        for (std::size_t n = 0; n < at_once; ++n) sum[n] += from[i + n];
    for (const NativeLanes& lanes : sum) sums[thread] += lanes[0];
  });
  return double(passes * x.size() * sizeof(real)) / seconds;
}

}  // namespace bochner

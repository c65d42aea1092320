#include <algorithm>
#include <bochner/autodiff/compute/fused.hpp>
#include <bochner/train/commands/bench/peak.hpp>
#include <chrono>
#include <thread>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// More than latency times units on any processor yet, and registers for all of them.
constexpr std::size_t chains = 12;
constexpr std::size_t rounds = 160'000'000;

typedef real Wide __attribute__((vector_size(64)));
typedef real Narrow __attribute__((vector_size(32)));

template <class Vector>
[[gnu::always_inline]] inline real multiply_add(std::size_t count) {
  Vector sums[chains], factor = Vector{} + real(0.999), term = Vector{} + real(0.001);
  for (std::size_t c = 0; c < chains; ++c) sums[c] = Vector{} + real(c);
  // What the compiler cannot know it cannot compute beforehand.
  asm volatile("" : "+x"(factor), "+x"(term));
  for (std::size_t i = 0; i < count; ++i) {
#pragma GCC unroll 12
    for (std::size_t c = 0; c < chains; ++c) sums[c] = fused(sums[c], factor, term);
  }
  for (std::size_t c = 1; c < chains; ++c) sums[0] += sums[c];
  return sums[0][0];
}

[[gnu::target("avx512f")]] real wide(std::size_t count) { return multiply_add<Wide>(count); }
[[gnu::target("avx2,fma")]] real narrow(std::size_t count) { return multiply_add<Narrow>(count); }

}  // namespace

double measure_peak(std::size_t threads) {
  const bool is_wide = __builtin_cpu_supports("avx512f");
  const std::size_t count = rounds / chains;
  const double operations =
      2.0 * double(count * chains * (is_wide ? sizeof(Wide) : sizeof(Narrow)) / sizeof(real));
  double best = 0;
  for (int repeat = 0; repeat < 10; ++repeat) {
    std::vector<real> results(threads);
    std::vector<std::thread> workers;
    const auto start = std::chrono::steady_clock::now();
    for (real& result : results)
      workers.emplace_back([&, count] { result = is_wide ? wide(count) : narrow(count); });
    for (std::thread& worker : workers) worker.join();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::max(best, double(threads) * operations / elapsed.count());
  }
  return best;
}

}  // namespace bochner::inline BOCHNER_PRECISION

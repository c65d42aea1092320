/// GFLOP/s of batched real transforms, 2.5 n log2 n operations each, one thread, and the peak rate
/// of fused multiply-adds on registers.

#include <benchmark/benchmark.h>

#include <bochner/autodiff/compute/fft.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>
#include <vector>

namespace bochner {
namespace {

void report(benchmark::State& state, double operations) {
  state.counters["FLOP/s"] =
      benchmark::Counter(operations * double(state.iterations()), benchmark::Counter::kIsRate);
}

/// Transforms as many rows as there are lanes, forward.
void transform(benchmark::State& state) {
  const std::size_t n = std::size_t(state.range(0));
  const auto fft = RealFft::of(n);
  std::vector<RowLanes> x(n);
  std::vector<ComplexLanes> y(fft->bins()), scratch(fft->scratch());
  for (std::size_t t = 0; t < n; ++t) x[t] = all_lanes(real(std::sin(double(t))));
  for (auto _ : state) {
    fft->forward(x.data(), y.data(), scratch.data());
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  report(state, 2.5 * double(n) * std::log2(double(n)) * double(row_lanes));
}

void transform_rows(benchmark::State& state) {
  const std::size_t n = std::size_t(state.range(0)), rows = 4 * row_lanes;
  std::vector<real> x(rows * n, real(1)), y(rows * (n + 2));
  set_thread_count(1);
  for (auto _ : state) {
    fft_rows(rows, n, x.data(), y.data(), {});
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
  }
  report(state, 2.5 * double(n) * std::log2(double(n)) * double(rows));
}

void peak(benchmark::State& state) {
  RowLanes sums[12];
  for (std::size_t i = 0; i < 12; ++i) sums[i] = all_lanes(real(i));
  const RowLanes factor = all_lanes(real(0.999)), term = all_lanes(real(0.001));
  for (auto _ : state) {
    for (int repeat = 0; repeat < 1000; ++repeat) {
#pragma GCC unroll 12
      for (RowLanes& sum : sums) sum = fused_lanes(sum, factor, term);
    }
    benchmark::DoNotOptimize(sums);
  }
  report(state, 1000. * 12 * 2 * double(row_lanes));
}

BENCHMARK(peak);
BENCHMARK(transform)->RangeMultiplier(2)->Range(64, 65536);
BENCHMARK(transform)->Arg(1000)->Arg(1500)->Arg(1920)->Arg(3000)->Arg(10007);
BENCHMARK(transform_rows)->RangeMultiplier(4)->Range(1024, 16384);

}  // namespace
}  // namespace bochner

/// Throughput of AMX when threads share cores: tile products alone, with tile loads and with vector
/// code, and a library product with and without AMX, from one thread to all of them. GFLOP/s of a
/// thread fall when two run on one core.

#include <benchmark/benchmark.h>

#if defined(__AMX_BF16__) && defined(__AVX512F__) && !defined(BOCHNER_DOUBLE)
#include <immintrin.h>

#include <bochner/autodiff/compute/bfloat16/amx.hpp>
#include <bochner/autodiff/compute/register_tiles.hpp>
#include <thread>
#include <vector>

namespace bochner {
namespace {

void on_all_threads(benchmark::internal::Benchmark* bench) {
  for (unsigned threads = 1; threads <= std::thread::hardware_concurrency(); threads *= 2)
    bench->Threads(int(threads));
  bench->UseRealTime();
}

void count_flop(benchmark::State& state, double flop) {
  state.counters["FLOP/s"] =
      benchmark::Counter(flop * double(state.iterations()), benchmark::Counter::kIsRate);
}

/// Runs four bfloat16 tile products per iteration and `interleaved()` after each.
template <class Interleaved>
void multiply_tiles(benchmark::State& state, const Interleaved& interleaved) {
  if (!has_amx()) return state.SkipWithError("no matrix units");
  const AmxSession in_use;
  const std::vector<real> numbers(4096, real(0.7));
  for (auto _ : state) {
    _tile_dpbf16ps(0, 4, 6);
    interleaved(numbers.data());
    _tile_dpbf16ps(1, 4, 6);
    interleaved(numbers.data() + 256);
    _tile_dpbf16ps(2, 5, 6);
    interleaved(numbers.data() + 512);
    _tile_dpbf16ps(3, 5, 6);
    interleaved(numbers.data() + 768);
  }
  count_flop(state, 4 * 2.0 * 16 * 16 * 32);
}
BENCHMARK_CAPTURE(multiply_tiles, alone, [](const real*) {})->Apply(on_all_threads);
BENCHMARK_CAPTURE(multiply_tiles, with_a_tile_read, [](const real* x) {
  _tile_loadd(7, x, 64);
})->Apply(on_all_threads);
BENCHMARK_CAPTURE(multiply_tiles, with_16_vectors_read, [](const real* x) {
  NativeLanes sum = {};
  for (std::size_t i = 0; i < 16; ++i) sum += lanes_at(x + 16 * i);
  benchmark::DoNotOptimize(sum);
})->Apply(on_all_threads);

/// The first inner layer of performer-lm, rows in cache.
struct Product {
  static constexpr std::size_t M = 128, N = 512, K = 128;
  std::vector<real> a = std::vector<real>(M * K, real(0.7)), b = std::vector<real>(K * N, 0.3f),
                    c = std::vector<real>(M * N), packed = std::vector<real>(parts_size(N, K));
};

void multiply_in_vectors(benchmark::State& state) {
  using namespace register_tiles;
  Product of;
  pack(of.K, of.N, {of.b.data(), of.N}, of.packed.data());
  for (auto _ : state) {
    multiply_panels(of.M, of.N, of.K, {of.a.data(), of.K}, {of.packed.data(), 0, true}, 0,
                    of.c.data(), of.N, Ahead({}, tile_count(of.M, of.N)));
    benchmark::ClobberMemory();
  }
  count_flop(state, 2.0 * of.M * of.N * of.K);
}
BENCHMARK(multiply_in_vectors)->Apply(on_all_threads);

void multiply_by_amx(benchmark::State& state) {
  if (!has_amx()) return state.SkipWithError("no matrix units");
  Product of;
  pack_right(of.N, of.K, {of.b.data(), of.N}, of.packed.data());
  for (auto _ : state) {
    multiply_by_packed(of.M, of.N, of.K, of.a.data(), of.K, of.packed.data(), 0, of.c.data(), of.N);
    benchmark::ClobberMemory();
  }
  count_flop(state, 2.0 * of.M * of.N * of.K);
}
BENCHMARK(multiply_by_amx)->Apply(on_all_threads);

}  // namespace
}  // namespace bochner
#endif

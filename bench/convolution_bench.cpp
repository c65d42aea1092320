/// Nanoseconds per token and channel of convolutions, forward and backward, one thread: direct sums
/// against FFT, to set the threshold of is_short_convolution(), and short ones.

#include <benchmark/benchmark.h>

#include <bochner/autodiff/ops/recurrence/long_convolution.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner {
namespace {

constexpr std::size_t tokens = 16384, channels = 64;

using Convolution = Var (*)(const Var&, const Var&);
Var direct(const Var& x, const Var& k) {
  return long_convolution(x, k, {.method = ConvolutionMethod::direct});
}
Var spectral(const Var& x, const Var& k) {
  return long_convolution(x, k, {.method = ConvolutionMethod::spectral});
}

void convolve(benchmark::State& state, Convolution convolution) {
  const std::size_t T = std::size_t(state.range(0)), L = std::size_t(state.range(1));
  set_thread_count(1);
  Parameter x{filled({tokens / T, T, channels}, real(0.5))};
  Parameter kernel{filled({L, channels}, real(0.01))};
  for (auto _ : state) {
    x.zero_gradient(), kernel.zero_gradient();
    Tape tape;
    const Var y = convolution(tape(x), tape(kernel));
    if (state.range(2) == 1) tape.backward(y, filled(y.shape(), real(1)));
    benchmark::ClobberMemory();
  }
  state.counters["ns"] =
      benchmark::Counter(double(state.iterations()) * double(tokens * channels) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t backward : {0, 1}) {
    for (const std::int64_t T : {64, 128, 256, 512, 1024, 4096, 16384})
      for (const std::int64_t L : {16, 32, 64, 128, 256, 1024, 4096, 16384})
        if (L <= T) benchmark->Args({T, L, backward});
  }
}

void short_sizes(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t backward : {0, 1})
    for (const std::int64_t T : {256, 2048})
      for (const std::int64_t taps : {3, 4, 8}) benchmark->Args({T, taps, backward});
}

BENCHMARK_CAPTURE(convolve, direct, direct)->Apply(sizes);
BENCHMARK_CAPTURE(convolve, spectral, spectral)->Apply(sizes);
BENCHMARK_CAPTURE(convolve, taps, short_convolution)->Apply(short_sizes);
BENCHMARK_CAPTURE(convolve, direct_taps, direct)->Apply(short_sizes);

}  // namespace
}  // namespace bochner

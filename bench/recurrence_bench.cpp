/// Bytes per second of diagonal scans, forward and backward, against the triad a = b + s c on the
/// same machine, and multiply-adds of fused state spaces; all threads.

#include <benchmark/benchmark.h>

#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner {
namespace {

constexpr std::size_t B = 16, T = 2048;

Tensor numbers(const Shape& shape) {
  Tensor x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(0.9) / real(1 + i % 7);
  return x;
}

void count_bytes(benchmark::State& state, std::size_t arrays, std::size_t elements) {
  state.SetBytesProcessed(std::int64_t(state.iterations() * arrays * elements * sizeof(real)));
}

void triad(benchmark::State& state) {
  const std::size_t size = B * T * std::size_t(state.range(0));
  const Tensor b = numbers({size}), c = numbers({size});
  Tensor a = zeros({size});
  for (auto _ : state) {
    parallel_for(size, elementwise_grain(size), [&](std::size_t begin, std::size_t end) {
      real* to = a.data();
      const real *from = b.data(), *other = c.data();
      for (std::size_t i = begin; i < end; ++i) to[i] = from[i] + real(0.5) * other[i];
    });
    benchmark::ClobberMemory();
  }
  count_bytes(state, 3, size);
}
BENCHMARK(triad)->Arg(128)->Arg(256)->UseRealTime();

/// Reads x and, for decays per token, a; writes h.
template <bool of_tokens, bool is_complex>
void forward(benchmark::State& state) {
  const std::size_t n = std::size_t(state.range(0));
  const Var x(numbers({B, T, n})), a(numbers(of_tokens ? x.shape() : Shape{n}));
  for (auto _ : state)
    benchmark::DoNotOptimize((is_complex ? complex_scan(a, x) : diagonal_scan(a, x)).data());
  count_bytes(state, of_tokens ? 3 : 2, x.size());
}

/// Reads g, h and, for decays per token, a; writes g and, for decays per token, the gradient of a.
/// The forward pass is not timed.
template <bool of_tokens, bool is_complex>
void backward(benchmark::State& state) {
  const std::size_t n = std::size_t(state.range(0));
  const Tensor x = numbers({B, T, n}), a = numbers(of_tokens ? x.shape() : Shape{n});
  for (auto _ : state) {
    state.PauseTiming();
    Tape tape;
    const Var inputs[] = {tape.input(a), tape.input(x)};
    const Var h =
        is_complex ? complex_scan(inputs[0], inputs[1]) : diagonal_scan(inputs[0], inputs[1]);
    Tensor gradient = numbers(x.shape());
    state.ResumeTiming();
    tape.backward(h, std::move(gradient));
  }
  count_bytes(state, of_tokens ? 5 : 3, x.size());
}

BENCHMARK(forward<false, false>)->Name("diagonal_scan/forward")->Arg(128)->Arg(256)->UseRealTime();
BENCHMARK(forward<true, false>)->Name("diagonal_scan/of_tokens/forward")->Arg(256)->UseRealTime();
BENCHMARK(forward<false, true>)->Name("complex_scan/forward")->Arg(256)->UseRealTime();
BENCHMARK(backward<false, false>)->Name("diagonal_scan/backward")->Arg(256)->UseRealTime();
BENCHMARK(backward<true, false>)->Name("diagonal_scan/of_tokens/backward")->Arg(256)->UseRealTime();
BENCHMARK(backward<false, true>)->Name("complex_scan/backward")->Arg(256)->UseRealTime();

/// Counts the operations of the forward pass, 12 per complex state and token, 2 per multiply-add;
/// backward has about 3.5 times as many.
void space(benchmark::State& state) {
  const std::size_t D = 128, N = std::size_t(state.range(0));
  const bool with_backward = state.range(1) != 0;
  const Tensor u = numbers({B, T, D}), a = real(0.7) * numbers({2, N, D}), w = numbers({2, N, D});
  for (auto _ : state) {
    Tape tape;
    const Var y = state_space(tape.input(u), tape.input(a), tape.input(w));
    if (with_backward) tape.backward(y, u);
  }
  state.counters["FLOP/s"] = benchmark::Counter(12.0 * double(B * T * D * N),
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(space)
    ->Name("state_space")
    ->ArgNames({"N", "backward"})
    ->Args({4, 0})
    ->Args({32, 0})
    ->Args({32, 1})
    ->UseRealTime();

}  // namespace
}  // namespace bochner

/// Elements per second of compute/math.hpp and of std:: on arrays in the first-level cache, and
/// GFLOP/s of gemm; one thread.

#include <benchmark/benchmark.h>

#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace bochner {
namespace {

constexpr std::size_t count = 2048;

/// Returns evenly spaced arguments on (0, 8]: valid for all functions and typical for most.
std::vector<real> arguments() {
  std::vector<real> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = real(8) * real(i + 1) / real(count);
  return x;
}

template <class Function>
void measure(benchmark::State& state, const Function& function) {
  const std::vector<real> x = arguments();
  std::vector<real> y(count);
  for (auto _ : state) {
    const real* from = x.data();
    real* to = y.data();
    for (std::size_t i = 0; i < count; ++i) to[i] = function(from[i]);
    benchmark::DoNotOptimize(to);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(std::int64_t(state.iterations() * count));
}

#define BOCHNER_COMPARE(name, ours, standard)                                         \
  BENCHMARK_CAPTURE(measure, name, [](real x) { return ours; })->Name(#name "/ours"); \
  BENCHMARK_CAPTURE(measure, name, [](real x) { return standard; })->Name(#name "/std")

BOCHNER_COMPARE(exp, math::exp(x), std::exp(x));
BOCHNER_COMPARE(log, math::log(x), std::log(x));
BOCHNER_COMPARE(sin, math::sin(x), std::sin(x));
BOCHNER_COMPARE(cos, math::cos(x), std::cos(x));
BOCHNER_COMPARE(tanh, math::tanh(x), std::tanh(x));
BOCHNER_COMPARE(erf, math::erf(x), std::erf(x));
BOCHNER_COMPARE(sigmoid, math::sigmoid(x), 1 / (1 + std::exp(-x)));
BOCHNER_COMPARE(softplus, math::softplus(x), std::log1p(std::exp(x)));
BOCHNER_COMPARE(gelu, math::gelu(x), x* std::erfc(x* real(-0.7071067811865476)) / 2);

real product_of_pair(real x) {
  real sine, cosine;
  math::sincos(x, &sine, &cosine);
  return sine * cosine;
}
BOCHNER_COMPARE(sincos, product_of_pair(x), std::sin(x) * std::cos(x));

void measure_gemm(benchmark::State& state) {
  const std::size_t M = std::size_t(state.range(0)), N = std::size_t(state.range(1)),
                    K = std::size_t(state.range(2));
  const std::vector<real> a(M * K, real(0.5)), b(K * N, real(0.25));
  std::vector<real> c(M * N);
  for (auto _ : state) {
    gemm(M, N, K, {a.data(), K}, {b.data(), N}, 0, c.data(), N);
    benchmark::ClobberMemory();
  }
  state.SetLabel(gemm_backend().name + " " + gemm_backend().kernel);
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * double(M * N * K), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(measure_gemm)
    ->Name("gemm")
    ->ArgNames({"M", "N", "K"})
    ->Args({64, 64, 64})
    ->Args({64, 48, 64})
    ->Args({256, 128, 128})
    ->Args({256, 512, 128})
    ->Args({256, 128, 512})
    ->Args({1024, 1024, 1024});

}  // namespace
}  // namespace bochner

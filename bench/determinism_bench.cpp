/// Cost of determinism: the reductions of a training step of performer-lm in fixed chunks joined in
/// order, as in the library, against TBB's free reductions, whose bits change with the number of
/// threads and from run to run.

#include <benchmark/benchmark.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>

namespace bochner {
namespace {

constexpr std::size_t tokens = 8192;

struct Matrix {
  std::size_t rows, columns;
};
/// Weight gradients (in, out) of a step, then gains and biases (row sums).
const std::vector<Matrix> weights = {{128, 128}, {128, 128}, {128, 128}, {128, 128},
                                     {128, 512}, {512, 128}, {128, 256}};
const std::vector<std::size_t> sums_of_rows = {128, 128, 128, 128, 512, 256, 128, 128};

const Storage& numbers() {
  static const Storage x(tokens * 512, real(0.01));
  return x;
}

void ordered_product(const Matrix& size, real* c) {
  accumulate_transposed_product(size.rows, size.columns, tokens, numbers().data(), size.rows,
                                numbers().data(), size.columns, c, size.columns);
}

/// A range of tokens and its sum.
template <class Add>
struct FreeSum {
  std::size_t size;
  const Add& add;
  Storage sum = Storage(size, real(0));
  FreeSum(std::size_t size, const Add& add) : size(size), add(add) {}
  FreeSum(FreeSum& other, tbb::split) : FreeSum(other.size, other.add) {}
  void operator()(const tbb::blocked_range<std::size_t>& range) {
    add(range.begin(), range.end(), sum.data());
  }
  void join(const FreeSum& other) {
    for (std::size_t i = 0; i < size; ++i) sum[i] += other.sum[i];
  }
};

template <class Add>
void free_sum(std::size_t size, std::size_t grain, real* y, const Add& add) {
  FreeSum<Add> body(size, add);
  tbb::parallel_reduce(tbb::blocked_range<std::size_t>(0, tokens, grain), body);
  for (std::size_t i = 0; i < size; ++i) y[i] += body.sum[i];
}

void free_product(const Matrix& size, real* c) {
  free_sum(size.rows * size.columns, 512, c, [&](std::size_t begin, std::size_t end, real* sum) {
    gemm(size.rows, size.columns, end - begin,
         {numbers().data() + begin * size.rows, size.rows, transposed},
         {numbers().data() + begin * size.columns, size.columns}, 1, sum, size.columns);
  });
}

void ordered_rows(std::size_t columns, real* y) {
  accumulate_columns(numbers().data(), tokens, columns, y);
}

void free_rows(std::size_t columns, real* y) {
  free_sum(columns, 128, y,
           [columns, x = numbers().data()](std::size_t begin, std::size_t end, real* sum) {
             for (std::size_t i = begin; i < end; ++i) {
               for (std::size_t j = 0; j < columns; ++j) sum[j] += x[i * columns + j];
             }
           });
}

double free_sum_of_squares() {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, numbers().size(), 16384), 0.0,
      [](const tbb::blocked_range<std::size_t>& range, double sum) {
        return sum + sum_of_squares(numbers().data() + range.begin(), range.size());
      },
      std::plus<>());
}

template <class Product, class Rows, class Squares>
void step(benchmark::State& state, const Product& product, const Rows& rows,
          const Squares& squares) {
  Storage result(512 * 512, real(0));
  for (auto _ : state) {
    for (const Matrix& size : weights) product(size, result.data());
    for (std::size_t columns : sums_of_rows) rows(columns, result.data());
    double total = squares();
    benchmark::DoNotOptimize(total);
  }
}

const auto no_product = [](const Matrix&, real*) {};
const auto no_rows = [](std::size_t, real*) {};
const auto no_squares = [] { return 0.0; };
const auto ordered_squares = [] { return sum_of_squares(numbers().data(), numbers().size()); };

#define BOCHNER_REDUCTION(name, ...) \
  BENCHMARK_CAPTURE(step, name, __VA_ARGS__)->Name(#name)->UseRealTime()->MinTime(1)

BOCHNER_REDUCTION(weight_gradients_ordered, ordered_product, no_rows, no_squares);
BOCHNER_REDUCTION(weight_gradients_free, free_product, no_rows, no_squares);
BOCHNER_REDUCTION(sums_of_rows_ordered, no_product, ordered_rows, no_squares);
BOCHNER_REDUCTION(sums_of_rows_free, no_product, free_rows, no_squares);
BOCHNER_REDUCTION(gradient_norm_ordered, no_product, no_rows, ordered_squares);
BOCHNER_REDUCTION(gradient_norm_free, no_product, no_rows, free_sum_of_squares);
BOCHNER_REDUCTION(all_ordered, ordered_product, ordered_rows, ordered_squares);
BOCHNER_REDUCTION(all_free, free_product, free_rows, free_sum_of_squares);

}  // namespace
}  // namespace bochner

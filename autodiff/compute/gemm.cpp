#include <cblas.h>
#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bochner/autodiff/compute/bfloat16/amx.hpp>
#include <bochner/autodiff/compute/bfloat16/bfloat16_product.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/lanes.hpp>
#include <bochner/autodiff/compute/products.hpp>
#include <bochner/base/processor/features.hpp>
#include <climits>
#include <csignal>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// A counter written by its own thread only: a shared one would slow down small products.
class Counters {
 public:
  std::atomic<std::uint64_t>& of_this_thread() {
    thread_local std::atomic<std::uint64_t>& mine = add();
    return mine;
  }
  double total() {
    const std::lock_guard lock(mutex_);
    double sum = 0;
    for (const Counter& each : all_) sum += double(each.value.load(std::memory_order_relaxed));
    return sum;
  }

 private:
  struct alignas(64) Counter {
    std::atomic<std::uint64_t> value{0};
  };
  std::atomic<std::uint64_t>& add() {
    const std::lock_guard lock(mutex_);
    return all_.emplace_back().value;
  }
  std::mutex mutex_;
  std::deque<Counter> all_;  // stable addresses, and outlive their threads
};
Counters operations;

#ifdef BOCHNER_DOUBLE
GemmBackend start_backend() { return start_openblas(); }
#else
std::string onednn_kernel() {
  if (!is_x86) return "generic";  // the bits of its instruction sets differ
  constexpr std::pair<dnnl_cpu_isa_t, const char*> names[] = {
      {dnnl_cpu_isa_avx512_core, "avx512_core"},
      {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
      {dnnl_cpu_isa_avx2, "avx2"},
      {dnnl_cpu_isa_avx, "avx"}};
  const unsigned found = dnnl_get_effective_cpu_isa();
  for (const auto& [isa, name] : names) {
    if ((found & isa) == isa) return name;
  }
  return "sse41";
}

GemmBackend start_backend() {
  const dnnl_version_t* version = dnnl_version();
  return {"oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
              std::to_string(version->patch),
          onednn_kernel(), start_openblas().warning};
}
#endif

/// Limits the libraries' OpenMP threads to one on the calling thread during a call.
class SingleThreadScope {
 public:
  SingleThreadScope() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThreadScope() { omp_set_num_threads(before_); }

 private:
  int before_;
};

#ifdef BOCHNER_DOUBLE
void library_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a,
                     const Operand& b, real beta, real* c, std::size_t ldc) {
  const auto flip = [](const Operand& x) {
    return x.transpose == transposed ? CblasTrans : CblasNoTrans;
  };
  require(std::max({M, N, K, a.ld, b.ld, ldc}) <= INT_MAX, "gemm", "OpenBLAS takes sizes up to ",
          INT_MAX, ": (", M, ", ", K, ") x (", K, ", ", N, ")");
  require_openblas(thread_count());
  const SingleThreadScope one_thread;
  cblas_dgemm(CblasRowMajor, flip(a), flip(b), int(M), int(N), int(K), 1, a.data, int(a.ld), b.data,
              int(b.ld), beta, c, int(ldc));
}
#else
/// Blocks signals other than faults during a call: before version 3.11.2, oneDNN keeps a heap
/// address in the stack register, where a handler would overwrite memory (oneDNN issue 4845).
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t later;
    sigfillset(&later);
    for (int fault : {SIGBUS, SIGFPE, SIGILL, SIGSEGV}) sigdelset(&later, fault);
    pthread_sigmask(SIG_BLOCK, &later, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

void library_product(std::size_t M, std::size_t N, std::size_t K, const Operand& a,
                     const Operand& b, real beta, real* c, std::size_t ldc) {
  const auto flip = [](const Operand& x) { return x.transpose == transposed ? 'T' : 'N'; };
  const SingleThreadScope one_thread;
  const BlockedSignals signals_later;
  const dnnl_status_t status =
      dnnl_sgemm(flip(a), flip(b), dnnl_dim_t(M), dnnl_dim_t(N), dnnl_dim_t(K), 1, a.data,
                 dnnl_dim_t(a.ld), b.data, dnnl_dim_t(b.ld), beta, c, dnnl_dim_t(ldc));
  if (status != dnnl_success) {
    throw std::runtime_error("[gemm] oneDNN failed with status " + std::to_string(status) +
                             (status == dnnl_out_of_memory ? " (out of memory)" : ""));
  }
}
#endif

/// Returns rows per task: whole tiles, several if one is not worth a task.
std::size_t rows_per_task(std::size_t N, std::size_t K) {
  return product_row_tile * products_per_task(product_row_tile, N, K);
}

}  // namespace

const GemmBackend& gemm_backend() {
  static const GemmBackend backend = start_backend();
  return backend;
}

bool has_own_products() {
  static const bool found = many_registers || gemm_backend().kernel.starts_with("avx2") ||
                            gemm_backend().kernel == "generic";
  return found;
}

void count_product(std::size_t M, std::size_t N, std::size_t K) {
  auto& counter = operations.of_this_thread();
  counter.store(counter.load(std::memory_order_relaxed) + 2 * std::uint64_t(M) * N * K,
                std::memory_order_relaxed);
}

double gemm_operations() { return operations.total(); }

void scale_result(std::size_t M, std::size_t N, real beta, real* c, std::size_t ldc) {
  for (std::size_t i = 0; i < M; ++i, c += ldc) {
    for (std::size_t j = 0; j < N; ++j) c[j] = beta == 0 ? real(0) : beta * c[j];
  }
}

void gemm(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
          real beta, real* c, std::size_t ldc) {
  if (M == 0 || N == 0) return;
  if (K == 0) return scale_result(M, N, beta, c, ldc);
  const bool a_flips = a.transpose == transposed, b_flips = b.transpose == transposed;
  require(a.ld >= (a_flips ? M : K) && b.ld >= (b_flips ? K : N) && ldc >= N, "gemm",
          "leading dimensions ", a.ld, ", ", b.ld, ", ", ldc, " are shorter than the rows of a (",
          M, ", ", K, ") x (", K, ", ", N, ") product");
  count_product(M, N, K);
  if (is_bfloat16_product(M, N, K)) {
    const bool in_amx = is_amx_product(M, N, K);
    return (in_amx ? amx_product : bfloat16_product)(M, N, K, a, b, beta, c, ldc);
  }
  const bool is_small = is_small_product(M, N, K);
  if (M == 1 && (a.ld == 1 || !a_flips) && !b_flips && (beta == 0 || !is_small))
    return vector_product(N, K, a.data, b.data, b.ld, beta, c);
  if (is_small) return small_product(M, N, K, a, b, beta, c, ldc);
  if (is_amx_product(M, N, K)) return amx_product(M, N, K, a, b, beta, c, ldc);
  if (is_panel_product(M, N)) return panel_product(M, N, K, a, b, beta, c, ldc);
  library_product(M, N, K, a, b, beta, c, ldc);
}

void parallel_gemm(std::size_t M, std::size_t N, std::size_t K, const Operand& a, const Operand& b,
                   real beta, real* c, std::size_t ldc) {
  parallel_for(M, rows_per_task(N, K), [&](std::size_t begin, std::size_t end) {
    gemm(end - begin, N, K, rows_from(begin, a), b, beta, c + begin * ldc, ldc);
  });
}

void accumulate_transposed_product(std::size_t M, std::size_t N, std::size_t K, const real* a,
                                   std::size_t lda, const real* b, std::size_t ldb, real* c,
                                   std::size_t ldc) {
  const std::size_t chunk = product_reduction_chunk;
  if (K <= chunk) {
    return parallel_gemm(M, N, K, {a, lda, transposed}, {b, ldb}, 1, c, ldc);
  }
  const auto add_rows = [&](std::size_t, std::size_t s, real beta, real* sum, std::size_t ld) {
    gemm(M, N, std::min(K - s * chunk, chunk), {a + s * chunk * lda, lda, transposed},
         {b + s * chunk * ldb, ldb}, beta, sum, ld);
  };
  accumulate_products({1, ceil_div(K, chunk), M, N, chunk, c, 0, ldc}, add_rows);
}

}  // namespace bochner::inline BOCHNER_PRECISION

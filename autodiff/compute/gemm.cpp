#include <cblas.h>
#include <dnnl.h>
#include <omp.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/compute/products.hpp>
#include <bochner/autodiff/compute/small_product.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

extern "C" {
char* openblas_get_corename(void) __attribute__((weak));
void openblas_set_num_threads(int) __attribute__((weak));
char* openblas_get_config(void) __attribute__((weak));
// Exported by builds that choose their kernels at run time.
void gotoblas_dynamic_init(void) __attribute__((weak));
void gotoblas_dynamic_quit(void) __attribute__((weak));
}

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// One counter per worker, each on a cache line of its own: small products would wait for a shared
/// one.
struct alignas(64) Counter {
  std::atomic<std::uint64_t> value{0};
};
Counter operations[64];

void count_operations(std::size_t M, std::size_t N, std::size_t K) {
  operations[worker_index() % std::size(operations)].value.fetch_add(2 * std::uint64_t(M) * N * K,
                                                                     std::memory_order_relaxed);
}

bool is_slow_core(const char* core) {
  for (const char* slow :
       {"Prescott", "Nehalem", "Generic", "Core2", "Penryn", "Banias", "Katmai"}) {
    if (strcasecmp(core, slow) == 0) return true;
  }
  return false;
}

/// OpenBLAS 0.3.21 picks kernels by CPU model and takes processors it does not know, or a wish in
/// OPENBLAS_CORETYPE, for machines of 2004. An unknown name makes it look at CPU features instead.
void repair_openblas() {
  if (!openblas_get_corename || !gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
  if (!__builtin_cpu_supports("avx2") || !is_slow_core(openblas_get_corename())) return;
  const char* wish = std::getenv("OPENBLAS_CORETYPE");
  const std::string saved = wish ? wish : "";
  setenv("OPENBLAS_CORETYPE", "by-cpu-feature", 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  if (wish) {
    setenv("OPENBLAS_CORETYPE", saved.c_str(), 1);
  } else {
    unsetenv("OPENBLAS_CORETYPE");
  }
}

std::string openblas_core() { return openblas_get_corename ? openblas_get_corename() : "unknown"; }

#ifdef BOCHNER_DOUBLE
/// The first two words of "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string library_name() {
  std::istringstream config(openblas_get_config ? openblas_get_config() : "BLAS");
  std::string name, version;
  config >> name >> version;
  return version.empty() ? name : name + " " + version;
}

std::string library_kernel() { return openblas_core(); }
#else
std::string library_name() {
  const dnnl_version_t* version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

std::string library_kernel() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "sse41";
    case dnnl_cpu_isa_avx:
      return "avx";
    case dnnl_cpu_isa_avx2:
      return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
      return "avx2_vnni";
    default:
      return "avx512_core";
  }
}
#endif

GemmBackend start_backend() {
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  const std::string before = openblas_core();
  repair_openblas();
  const std::string core = openblas_core();
  GemmBackend backend{library_name(), library_kernel(), ""};
  if (__builtin_cpu_supports("avx2") && is_slow_core(core.c_str())) {
    backend.warning = "OpenBLAS runs its kernels for " + core +
                      " on a processor with AVX2, about five times too slow, and could not be "
                      "repaired; unset OPENBLAS_CORETYPE or set it to Haswell";
  } else if (before != core) {
    backend.warning = "OpenBLAS took this processor for " + before +
                      "; repaired, it runs its kernels for " + core;
  }
  return backend;
}

/// Keeps the libraries' own OpenMP threads at one on the calling thread, for the length of a call.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_;
};

/// Rows of a task: whole tiles, more of them where a tile would not be worth a task.
std::size_t rows_per_task(std::size_t N, std::size_t K) {
  return product_row_tile * products_per_task(product_row_tile, N, K);
}

}  // namespace

const GemmBackend& gemm_backend() {
  static const GemmBackend backend = start_backend();
  return backend;
}

double gemm_operations() {
  double total = 0;
  for (const Counter& counter : operations) total += double(counter.value.load());
  return total;
}

void gemm(Transpose transpose_a, Transpose transpose_b, std::size_t M, std::size_t N, std::size_t K,
          real alpha, const real* a, std::size_t lda, const real* b, std::size_t ldb, real beta,
          real* c, std::size_t ldc) {
  if (M == 0 || N == 0) return;
  if (K == 0) {
    for (std::size_t i = 0; i < M; ++i) {
      for (std::size_t j = 0; j < N; ++j)
        c[i * ldc + j] = beta == 0 ? real(0) : beta * c[i * ldc + j];
    }
    return;
  }
  const bool a_is_transposed = transpose_a == Transpose::yes;
  const bool b_is_transposed = transpose_b == Transpose::yes;
  require(lda >= (a_is_transposed ? M : K) && ldb >= (b_is_transposed ? K : N) && ldc >= N, "gemm",
          "leading dimensions ", lda, ", ", ldb, ", ", ldc, " are shorter than the rows of a (", M,
          ", ", K, ") x (", K, ", ", N, ") product");
  count_operations(M, N, K);
  if (is_small_product(M, N, K)) {
    const Strided left{a, a_is_transposed ? 1 : lda, a_is_transposed ? lda : 1};
    const Strided right{b, b_is_transposed ? 1 : ldb, b_is_transposed ? ldb : 1};
    return small_product(M, N, K, alpha, left, right, beta, c, ldc);
  }
  gemm_backend();
  const OneThread one_thread;
#ifdef BOCHNER_DOUBLE
  require(std::max({M, N, K, lda, ldb, ldc}) <= INT_MAX, "gemm", "OpenBLAS takes sizes up to ",
          INT_MAX, ": (", M, ", ", K, ") x (", K, ", ", N, ")");
  cblas_dgemm(CblasRowMajor, a_is_transposed ? CblasTrans : CblasNoTrans,
              b_is_transposed ? CblasTrans : CblasNoTrans, int(M), int(N), int(K), alpha, a,
              int(lda), b, int(ldb), beta, c, int(ldc));
#else
  const dnnl_status_t status = dnnl_sgemm(
      a_is_transposed ? 'T' : 'N', b_is_transposed ? 'T' : 'N', dnnl_dim_t(M), dnnl_dim_t(N),
      dnnl_dim_t(K), alpha, a, dnnl_dim_t(lda), b, dnnl_dim_t(ldb), beta, c, dnnl_dim_t(ldc));
  if (status != dnnl_success) {
    throw std::runtime_error("[gemm] oneDNN failed with status " + std::to_string(status) +
                             (status == dnnl_out_of_memory ? " (out of memory)" : ""));
  }
#endif
}

void parallel_gemm(Transpose transpose_a, Transpose transpose_b, std::size_t M, std::size_t N,
                   std::size_t K, real alpha, const real* a, std::size_t lda, const real* b,
                   std::size_t ldb, real beta, real* c, std::size_t ldc) {
  parallel_for(M, rows_per_task(N, K), [&](std::size_t begin, std::size_t end) {
    const real* rows = transpose_a == Transpose::yes ? a + begin : a + begin * lda;
    gemm(transpose_a, transpose_b, end - begin, N, K, alpha, rows, lda, b, ldb, beta,
         c + begin * ldc, ldc);
  });
}

void accumulate_transposed_product(std::size_t M, std::size_t N, std::size_t K, const real* a,
                                   std::size_t lda, const real* b, std::size_t ldb, real* c,
                                   std::size_t ldc) {
  const std::size_t chunk = product_reduction_chunk;
  if (K <= chunk) {
    return parallel_gemm(Transpose::yes, Transpose::no, M, N, K, 1, a, lda, b, ldb, 1, c, ldc);
  }
  const auto add_rows = [&](std::size_t, std::size_t s, real beta, real* sum, std::size_t ld) {
    gemm(Transpose::yes, Transpose::no, M, N, std::min(K - s * chunk, chunk), 1,
         a + s * chunk * lda, lda, b + s * chunk * ldb, ldb, beta, sum, ld);
  };
  accumulate_products({1, (K + chunk - 1) / chunk, M, N, chunk, c, 0, ldc}, add_rows);
}

}  // namespace bochner::inline BOCHNER_PRECISION

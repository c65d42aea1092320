#include <cblas.h>
#include <dnnl.h>
#include <omp.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <cstdlib>
#include <cstring>
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

std::atomic<double> operations{0};

void count_operations(std::size_t M, std::size_t N, std::size_t K) {
  operations.fetch_add(2.0 * double(M) * double(N) * double(K), std::memory_order_relaxed);
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

GemmBackend start_backend() {
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  const std::string before = openblas_get_corename ? openblas_get_corename() : "unknown";
  repair_openblas();
  GemmBackend backend;
  const std::string core = openblas_get_corename ? openblas_get_corename() : "unknown";
#ifdef BOCHNER_DOUBLE
  const char* config = openblas_get_config ? openblas_get_config() : "OpenBLAS";
  backend.name = std::string(
      config, std::min<std::size_t>(std::strcspn(config, " ") + 7, std::strlen(config)));
  backend.kernel = core;
#else
  const dnnl_version_t* version = dnnl_version();
  backend.name = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) +
                 "." + std::to_string(version->patch);
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      backend.kernel = "sse41";
      break;
    case dnnl_cpu_isa_avx:
      backend.kernel = "avx";
      break;
    case dnnl_cpu_isa_avx2:
      backend.kernel = "avx2";
      break;
    case dnnl_cpu_isa_avx2_vnni:
      backend.kernel = "avx2_vnni";
      break;
    default:
      backend.kernel = "avx512_core";
  }
#endif
  if (__builtin_cpu_supports("avx2") && is_slow_core(core.c_str())) {
    backend.warning =
        "OpenBLAS runs its kernels for " + core +
        " on a processor with AVX2, about five times too "
        "slow, and could not be repaired; unset OPENBLAS_CORETYPE or set it to Haswell";
  } else if (before != core) {
    backend.warning = "OpenBLAS took this processor for " + before +
                      "; repaired, it runs its kernels for " + core;
  }
  return backend;
}

/// oneDNN's own OpenMP threads are pinned to one on every thread that calls it.
void pin_library_threads() {
  static thread_local const bool pinned = [] {
    omp_set_num_threads(1);
    return true;
  }();
  (void)pinned;
}

constexpr std::size_t row_tile = 256;
constexpr std::size_t reduction_chunk = 512;

}  // namespace

const GemmBackend& gemm_backend() {
  static const GemmBackend backend = start_backend();
  return backend;
}

double gemm_operations() { return operations.load(); }

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
  gemm_backend();
  pin_library_threads();
  count_operations(M, N, K);
#ifdef BOCHNER_DOUBLE
  cblas_dgemm(CblasRowMajor, transpose_a == Transpose::yes ? CblasTrans : CblasNoTrans,
              transpose_b == Transpose::yes ? CblasTrans : CblasNoTrans, int(M), int(N), int(K),
              alpha, a, int(lda), b, int(ldb), beta, c, int(ldc));
#else
  dnnl_sgemm(transpose_a == Transpose::yes ? 'T' : 'N', transpose_b == Transpose::yes ? 'T' : 'N',
             dnnl_dim_t(M), dnnl_dim_t(N), dnnl_dim_t(K), alpha, a, dnnl_dim_t(lda), b,
             dnnl_dim_t(ldb), beta, c, dnnl_dim_t(ldc));
#endif
}

void parallel_gemm(Transpose transpose_a, Transpose transpose_b, std::size_t M, std::size_t N,
                   std::size_t K, real alpha, const real* a, std::size_t lda, const real* b,
                   std::size_t ldb, real beta, real* c, std::size_t ldc) {
  parallel_for(M, row_tile, [&](std::size_t begin, std::size_t end) {
    const real* rows = transpose_a == Transpose::yes ? a + begin : a + begin * lda;
    gemm(transpose_a, transpose_b, end - begin, N, K, alpha, rows, lda, b, ldb, beta,
         c + begin * ldc, ldc);
  });
}

void accumulate_transposed_product(std::size_t M, std::size_t N, std::size_t K, const real* a,
                                   std::size_t lda, const real* b, std::size_t ldb, real* c,
                                   std::size_t ldc) {
  const std::size_t chunks = (K + reduction_chunk - 1) / reduction_chunk;
  if (chunks <= 1) {
    return gemm(Transpose::yes, Transpose::no, M, N, K, 1, a, lda, b, ldb, 1, c, ldc);
  }
  const std::size_t groups = std::min<std::size_t>(chunks, 8);
  const std::size_t chunks_per_group = (chunks + groups - 1) / groups;
  PoolAllocator<real> allocator;
  real* partial = allocator.allocate(groups * M * N);
  parallel_tasks(groups, [&](std::size_t group) {
    real* sum = partial + group * M * N;
    const std::size_t first = group * chunks_per_group;
    const std::size_t last = std::min(chunks, first + chunks_per_group);
    if (first >= last) std::fill_n(sum, M * N, real(0));
    for (std::size_t chunk = first; chunk < last; ++chunk) {
      const std::size_t begin = chunk * reduction_chunk;
      const std::size_t rows = std::min(K, begin + reduction_chunk) - begin;
      gemm(Transpose::yes, Transpose::no, M, N, rows, 1, a + begin * lda, lda, b + begin * ldb, ldb,
           chunk == first ? real(0) : real(1), sum, N);
    }
  });
  parallel_for(M, std::max<std::size_t>(1, elementwise_grain / std::max<std::size_t>(1, N)),
               [&](std::size_t begin, std::size_t end) {
                 for (std::size_t i = begin; i < end; ++i) {
                   for (std::size_t group = 0; group < groups; ++group) {
                     const real* sum = partial + group * M * N + i * N;
                     for (std::size_t j = 0; j < N; ++j) c[i * ldc + j] += sum[j];
                   }
                 }
               });
  allocator.deallocate(partial, groups * M * N);
}

}  // namespace bochner::inline BOCHNER_PRECISION

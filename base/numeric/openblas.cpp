#include <strings.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/base/processor/features.hpp>
#include <bochner/base/xtensor.hpp>
#include <cstdlib>
#include <new>
#include <sstream>
#include <xtensor-blas/xlinalg.hpp>

extern "C" {
char* openblas_get_corename(void) __attribute__((weak));
void openblas_set_num_threads(int) __attribute__((weak));
char* openblas_get_config(void) __attribute__((weak));
void* blas_memory_alloc(int) __attribute__((weak));
void blas_memory_free(void*) __attribute__((weak));
// Defined in builds with run-time kernel selection (DYNAMIC_ARCH).
void gotoblas_dynamic_init(void) __attribute__((weak));
void gotoblas_dynamic_quit(void) __attribute__((weak));
}

namespace bochner {
namespace {

bool is_slow_core(const char* core) {
  for (const char* slow :
       {"Prescott", "Nehalem", "Generic", "Core2", "Penryn", "Banias", "Katmai"}) {
    if (strcasecmp(core, slow) == 0) return true;
  }
  return false;
}

/// OpenBLAS 0.3.21 selects kernels by CPU model and falls back to 2004 kernels for unknown models
/// or an unknown OPENBLAS_CORETYPE. An unknown name makes it check CPU features instead.
void repair_openblas() {
  if (!openblas_get_corename || !gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
  if (!has_avx2() || !is_slow_core(openblas_get_corename())) return;
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

/// Returns the first two words of "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string openblas_name() {
  std::istringstream config(openblas_get_config ? openblas_get_config() : "BLAS");
  std::string name, version;
  config >> name >> version;
  return version.empty() ? name : name + " " + version;
}

GemmBackend started_openblas() {
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  const std::string before = openblas_core();
  repair_openblas();
  GemmBackend backend{openblas_name(), openblas_core(), ""};
  if (has_avx2() && is_slow_core(backend.kernel.c_str())) {
    backend.warning = "OpenBLAS runs its kernels for " + backend.kernel +
                      " on a processor with AVX2, about five times too slow, and could not be "
                      "repaired; unset OPENBLAS_CORETYPE or set it to Haswell";
  } else if (before != backend.kernel) {
    backend.warning = "OpenBLAS mistook this processor for " + before +
                      "; selected the kernels for " + backend.kernel;
  }
  return backend;
}

/// Makes OpenBLAS allocate its buffers now: a thread that started between the check of
/// require_openblas and the first product could take their place, and OpenBLAS then tries for ever.
void allocate_buffers(std::size_t count) {
  if (!blas_memory_alloc || !blas_memory_free) return;
  std::vector<void*> buffers(count);
  for (void*& buffer : buffers) buffer = blas_memory_alloc(0);
  for (void* buffer : buffers) blas_memory_free(buffer);
}

auto as_matrix(const std::vector<double>& a, std::size_t n) {
  require_openblas();
  return xt::adapt(a, std::array{n, n});
}

}  // namespace

const GemmBackend& start_openblas() {
  static const GemmBackend backend = started_openblas();
  return backend;
}

void require_openblas(std::size_t threads) {
  start_openblas();
  constexpr std::size_t buffer = std::size_t(128) << 20;  // bytes per thread, never freed
  static std::atomic<std::size_t> served{0};
  if (threads <= served.load()) return;
  void* room = mmap(nullptr, threads * buffer, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, threads * buffer);
  allocate_buffers(threads);
  served = threads;
}

SymmetricEigen symmetric_eigen(const std::vector<double>& a, std::size_t n) {
  if (n == 0) return {};
  const auto [values, vectors] = xt::linalg::eigh(as_matrix(a, n));
  SymmetricEigen result{{values.begin(), values.end()}, std::vector<double>(n * n)};
  for (std::size_t i = 0; i < n * n; ++i) result.vectors[i] = vectors(i / n, i % n);
  return result;
}

std::vector<double> orthonormal_factor(const std::vector<double>& a, std::size_t n) {
  const auto [q, r] = xt::linalg::qr(as_matrix(a, n));
  std::vector<double> factor(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) factor[i * n + j] = r(j, j) < 0 ? -q(i, j) : q(i, j);
  return factor;
}

std::vector<double> square_product(const std::vector<double>& a, const std::vector<double>& b,
                                   std::size_t n) {
  const xt::xarray<double> product = xt::linalg::dot(as_matrix(a, n), as_matrix(b, n));
  return {product.begin(), product.end()};
}

std::vector<double> solve(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t n = b.size();
  const auto x = xt::linalg::solve(as_matrix(a, n), xt::adapt(b, std::array{n}));
  return {x.begin(), x.end()};
}

}  // namespace bochner

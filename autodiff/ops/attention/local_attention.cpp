#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/attention/attention_by_ops.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace near_parts {
namespace {

constexpr std::size_t block = 32;  // queries per product

struct LocalAttention {
  std::size_t B, T, H, d;
  std::size_t window;  // at most T
  real window_lag;     // window as requested
  const real *q, *k, *v, *rate;
  const std::vector<std::size_t>& lengths;
  real scale() const { return 1 / std::sqrt(real(d)); }
  std::size_t stride() const { return H * d; }
  std::size_t out_stride() const { return H * (d + 1); }
  std::size_t length(std::size_t b) const { return length_of(lengths, b, T); }
  std::size_t max_keys() const { return std::min(T, block + window - 1); }
};

/// Queries first .. first + rows of one head, and keys from .. first + rows that any of them sees.
struct Band {
  const LocalAttention& a;
  std::size_t b, h, first, rows, from, keys;
  Band(const LocalAttention& a, std::size_t b, std::size_t h, std::size_t first)
      : a(a),
        b(b),
        h(h),
        first(first),
        rows(std::min(block, a.length(b) - first)),
        from(first + 1 > a.window ? first + 1 - a.window : 0),
        keys(first + rows - from) {}

  std::size_t at(std::size_t token) const { return (b * a.T + token) * a.stride() + h * a.d; }
  std::size_t out_at(std::size_t token) const { return ((b * a.T + token) * a.H + h) * (a.d + 1); }
  /// Returns the first key of query i in this band.
  std::size_t begin(std::size_t i) const {
    return first + i + 1 > from + a.window ? first + i + 1 - from - a.window : 0;
  }
  std::size_t end(std::size_t i) const { return first + i - from + 1; }
  std::size_t lag(std::size_t i, std::size_t j) const { return first + i - (from + j); }

  /// Computes s (rows, keys) = q k^T / sqrt(d) - rate lag; undefined outside the window.
  void logits(real* s) const {
    gemm(rows, keys, a.d, {a.q + at(first), a.stride()}, {a.k + at(from), a.stride(), transposed},
         0, s, keys);
    for (std::size_t i = 0; i < rows; ++i, s += keys) {
      for (std::size_t j = begin(i); j < end(i); ++j)
        s[j] = a.scale() * s[j] - rate() * real(lag(i, j));
    }
  }
  real rate() const { return a.rate ? a.rate[h] : real(0); }
  std::size_t log_sum_at(std::size_t token) const { return (b * a.H + h) * a.T + token; }
  /// Turns row i of logits into weights exp(s - log_sum), 0 outside the window.
  void weigh(std::size_t i, real log_sum, real* s) const {
    std::fill_n(s, begin(i), real(0));
    for (std::size_t j = begin(i); j < end(i); ++j) s[j] = math::exp(s[j] - log_sum);
    std::fill(s + end(i), s + keys, real(0));
  }
};

struct ForwardWork {
  real* p;
  ForwardWork(const LocalAttention& a, Arena& arena) { arena.take(block * a.max_keys(), p); }
};

/// Computes a band and `log_sum` (B, H, T), relative to the token, for the backward pass.
void forward(const Band& band, const ForwardWork& work, real* out, real* log_sum) {
  const LocalAttention& a = band.a;
  band.logits(work.p);
  real* y = out + band.out_at(band.first);
  for (std::size_t i = 0; i < band.rows; ++i) {
    real* p = work.p + i * band.keys;
    const std::size_t begin = band.begin(i), count = band.end(i) - begin;
    const real top = max_row(p + begin, count);
    band.weigh(i, top, p);
    const real total = sum_row(p + begin, count);
    for (std::size_t j = begin; j < begin + count; ++j) p[j] /= total;
    real& log_total = log_sum[band.log_sum_at(band.first + i)] = top + std::log(total);
    y[i * a.out_stride() + a.d] = log_total + band.rate() * a.window_lag;
  }
  gemm(band.rows, a.d, band.keys, {work.p, band.keys}, {a.v + band.at(band.from), a.stride()}, 0, y,
       a.out_stride());
}

struct Gradients {
  Tensor q, k, v;
  std::vector<double> rate;  // (B, H)
};

struct BackwardWork {
  real *p, *ds;
  BackwardWork(const LocalAttention& a, Arena& arena) { arena.take(block * a.max_keys(), p, ds); }
};

/// Computes weights p (rows, keys) and gradients ds of the logits; returns dL/drate.
double differentiate(const Band& band, const real* y, const real* g, const real* log_sum,
                     const BackwardWork& work) {
  const LocalAttention& a = band.a;
  double rate = 0;
  for (std::size_t i = 0; i < band.rows; ++i, y += a.out_stride(), g += a.out_stride()) {
    real *p = work.p + i * band.keys, *ds = work.ds + i * band.keys;
    band.weigh(i, log_sum[band.log_sum_at(band.first + i)], p);
    const real mean = dot_row(g, y, a.d) - g[a.d];
    for (std::size_t j = 0; j < band.keys; ++j) ds[j] = p[j] * (ds[j] - mean);
    rate += double(g[a.d]) * double(a.window_lag);
    for (std::size_t j = band.begin(i); a.rate && j < band.end(i); ++j)
      rate -= double(ds[j]) * double(band.lag(i, j));
    for (std::size_t j = 0; j < band.keys; ++j) ds[j] *= a.scale();
  }
  return rate;
}

double backward(const Band& band, const real* out, const real* gradient, const real* log_sum,
                const BackwardWork& work, Gradients& to) {
  const LocalAttention& a = band.a;
  const std::size_t rows = band.rows, keys = band.keys, d = a.d, stride = a.stride();
  const real *y = out + band.out_at(band.first), *g = gradient + band.out_at(band.first);
  const std::size_t query = band.at(band.first), key = band.at(band.from);
  band.logits(work.p);
  gemm(rows, keys, d, {g, a.out_stride()}, {a.v + key, stride, transposed}, 0, work.ds, keys);
  const double rate = differentiate(band, y, g, log_sum, work);
  gemm(keys, d, rows, {work.p, keys, transposed}, {g, a.out_stride()}, 1, to.v.data() + key,
       stride);
  gemm(rows, d, keys, {work.ds, keys}, {a.k + key, stride}, 0, to.q.data() + query, stride);
  gemm(keys, d, rows, {work.ds, keys, transposed}, {a.q + query, stride}, 1, to.k.data() + key,
       stride);
  return rate;
}

/// Calls body(band, work) for the bands of each head in order, heads in parallel.
template <class Work, class Body>
void for_each_band(const LocalAttention& a, const Body& body) {
  Scratch<real> scratch(scratch_size<Work>(a));
  parallel_tasks(a.B * a.H, [&](std::size_t index) {
    Arena arena(scratch.local());
    const Work work(a, arena);
    const std::size_t b = index / a.H, h = index % a.H;
    for (std::size_t first = 0; first < a.length(b); first += block)
      body(Band(a, b, h, first), work);
  });
}

void require_inputs(const Var& q, const Var& k, const Var& v, const Var& rate, std::size_t window,
                    const std::vector<std::size_t>& lengths) {
  const char* op = "local_attention";
  require(q.rank() == 4 && q.shape() == k.shape() && q.shape() == v.shape(), op,
          "q, k, v must be (B, T, H, d): q ", q.shape(), ", k ", k.shape(), ", v ", v.shape());
  require(!rate.exists() || rate.shape() == Shape{q.dim(2)}, op, "one rate per head: rate ",
          rate.exists() ? rate.shape() : Shape{}, ", q ", q.shape());
  require(window > 0, op, "the window must hold at least the token itself");
  require_lengths(op, lengths, q.shape(), "q");
}

}  // namespace
}  // namespace near_parts

Var local_attention(const Var& q, const Var& k, const Var& v, const Var& rate, std::size_t window,
                    const std::vector<std::size_t>& lengths) {
  using namespace near_parts;
  require_inputs(q, k, v, rate, window, lengths);
  if (lengths.empty() && has_tangents(q, k, v, rate))
    return local_attention_by_ops(q, k, v, rate, window);
  const auto near = [=](const std::vector<std::size_t>& each) {
    return LocalAttention{q.dim(0),
                          q.dim(1),
                          q.dim(2),
                          q.dim(3),
                          std::min(window, std::max<std::size_t>(1, q.dim(1))),
                          real(window),
                          q.data(),
                          k.data(),
                          v.data(),
                          rate.exists() ? rate.data() : nullptr,
                          each};
  };
  Tensor y = zeros({q.dim(0), q.dim(1), q.dim(2), q.dim(3) + 1});
  Tensor log_sum = zeros({q.dim(0), q.dim(2), q.dim(1)});
  if (q.size() > 0) {
    const LocalAttention a = near(lengths);
    for_each_band<ForwardWork>(a, [&](const Band& band, const ForwardWork& work) {
      forward(band, work, y.data(), log_sum.data());
    });
  }
  return record("local_attention", std::move(y), {q, k, v, rate},
                [=, log_sum = std::move(log_sum)](const Tensor& y, Tensor& g) {
                  if (g.size() == 0 || q.size() == 0) return;
                  const LocalAttention a = near(lengths);
                  Gradients to{zeros(q.shape()), zeros(q.shape()), zeros(q.shape()), {}};
                  to.rate.resize(a.B * a.H);
                  for_each_band<BackwardWork>(a, [&](const Band& band, const BackwardWork& work) {
                    to.rate[band.b * a.H + band.h] +=
                        backward(band, y.data(), g.data(), log_sum.data(), work, to);
                  });
                  q.add_gradient(std::move(to.q));
                  k.add_gradient(std::move(to.k));
                  v.add_gradient(std::move(to.v));
                  if (rate.needs_gradient()) rate.add_gradient(sum_repeats(to.rate, rate.shape()));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <algorithm>
#include <bochner/autodiff/compute/fft.hpp>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/shape.hpp>
#include <cstdint>
#include <list>
#include <mutex>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Complex = ComplexLanes;

constexpr std::size_t largest_radix = 13;
/// Size of the plan cache: a table is as large as a sequence, and lengths may vary.
constexpr std::size_t max_cached_plans = 16;

inline Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
inline Complex quarter_turn(const Complex& a) { return {a.im, -a.re}; }
inline Complex mirrored(const Complex& a) { return {a.re, -a.im}; }
inline Complex scaled(const Complex& a, RowLanes by) { return {a.re * by, a.im * by}; }
/// Returns a w for a complex w.
inline Complex turned(const Complex& a, const real* w) {
  const RowLanes re = all_lanes(w[0]), im = all_lanes(w[1]);
  return {fused_lanes(a.re, re, -(a.im * im)), fused_lanes(a.re, im, a.im * re)};
}

/// Appends e^(-2 pi i j / n), with the angle reduced to an eighth of a turn.
void add_turn(std::size_t j, std::size_t n, std::vector<real>& to) {
  std::uint64_t eighths = std::uint64_t(j % n) * 8, octant = eighths / n;
  std::uint64_t rest = eighths - octant * n;  // within the octant, in units of 1 / n
  if (octant % 2 == 1) rest = n - rest;
  const double angle = std::numbers::pi / 4 * double(rest) / double(n);
  double c = std::cos(angle), s = std::sin(angle);
  if ((octant + 1) / 2 % 2 == 1) std::swap(c, s);
  to.push_back(real(octant >= 2 && octant < 6 ? -c : c));
  to.push_back(real(octant < 4 ? -s : s));
}

template <std::size_t R>
struct Radix {
  /// Transforms odd R: mirrored pairs of elements share their products.
  static inline void transform(Complex* z, const real* turns) {
    constexpr std::size_t half = R / 2;
    Complex sum[half], difference[half];
    const Complex first = z[0];
#pragma GCC unroll 8
    for (std::size_t j = 0; j < half; ++j) {
      sum[j] = z[j + 1] + z[R - 1 - j];
      difference[j] = z[j + 1] - z[R - 1 - j];
      z[0] = z[0] + sum[j];
    }
#pragma GCC unroll 8
    for (std::size_t k = 1; k <= half; ++k) {
      Complex even = first, odd = {RowLanes{}, RowLanes{}};
#pragma GCC unroll 8
      for (std::size_t j = 0; j < half; ++j) {
        const real* w = turns + (j + 1) * k % R * 2;
        const RowLanes c = all_lanes(w[0]), s = all_lanes(w[1]);
        even = {fused_lanes(c, sum[j].re, even.re), fused_lanes(c, sum[j].im, even.im)};
        odd = {fused_lanes(s, difference[j].im, odd.re), fused_lanes(s, difference[j].re, odd.im)};
      }
      // i s (a + i b) = -s b + i s a, with the sign of the turn in s
      z[k] = {even.re - odd.re, even.im + odd.im};
      z[R - k] = {even.re + odd.re, even.im - odd.im};
    }
  }
};

template <>
struct Radix<2> {
  static inline void transform(Complex* z, const real*) {
    const Complex a = z[0], b = z[1];
    z[0] = a + b, z[1] = a - b;
  }
};

template <>
struct Radix<4> {
  static inline void transform(Complex* z, const real*) {
    const Complex a = z[0] + z[2], b = z[0] - z[2], c = z[1] + z[3], d = quarter_turn(z[1] - z[3]);
    z[0] = a + c, z[1] = b + d, z[2] = a - c, z[3] = b - d;
  }
};

template <>
struct Radix<8> {
  static inline void transform(Complex* z, const real*) {
    Complex even[4] = {z[0], z[2], z[4], z[6]}, odd[4] = {z[1], z[3], z[5], z[7]};
    Radix<4>::transform(even, nullptr);
    Radix<4>::transform(odd, nullptr);
    const RowLanes half = all_lanes(real(std::numbers::sqrt2 / 2));
    odd[1] = {half * (odd[1].re + odd[1].im), half * (odd[1].im - odd[1].re)};
    odd[2] = quarter_turn(odd[2]);
    odd[3] = {half * (odd[3].im - odd[3].re), -(half * (odd[3].re + odd[3].im))};
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) z[k] = even[k] + odd[k], z[k + 4] = even[k] - odd[k];
  }
};

template <std::size_t R>
void gather_pass(const real* turns, const Complex* x, std::size_t stride, Complex* y) {
  Complex z[R];
#pragma GCC unroll 16
  for (std::size_t j = 0; j < R; ++j) z[j] = x[j * stride];
  Radix<R>::transform(z, turns);
#pragma GCC unroll 16
  for (std::size_t j = 0; j < R; ++j) y[j] = z[j];
}

template <std::size_t R>
void join_pass(std::size_t m, const real* twiddles, const real* turns, Complex* y) {
  for (std::size_t k = 0; k < m; ++k, twiddles += 2 * (R - 1)) {
    Complex z[R];
    z[0] = y[k];
#pragma GCC unroll 16
    for (std::size_t j = 1; j < R; ++j) z[j] = turned(y[k + j * m], twiddles + 2 * (j - 1));
    Radix<R>::transform(z, turns);
#pragma GCC unroll 16
    for (std::size_t j = 0; j < R; ++j) y[k + j * m] = z[j];
  }
}

template <class F>
void with_radix(std::size_t radix, const F& f) {
  switch (radix) {
    case 2:
      return f(std::integral_constant<std::size_t, 2>());
    case 3:
      return f(std::integral_constant<std::size_t, 3>());
    case 4:
      return f(std::integral_constant<std::size_t, 4>());
    case 5:
      return f(std::integral_constant<std::size_t, 5>());
    case 7:
      return f(std::integral_constant<std::size_t, 7>());
    case 8:
      return f(std::integral_constant<std::size_t, 8>());
    case 11:
      return f(std::integral_constant<std::size_t, 11>());
    case 13:
      return f(std::integral_constant<std::size_t, 13>());
  }
}

/// Factors n into radices; the last one is the remaining factor.
std::vector<std::size_t> radices_of(std::size_t n) {
  std::vector<std::size_t> radices;
  for (std::size_t radix : {8, 4, 2, 13, 11, 7, 5, 3}) {
    // 4 * 4 is faster than 8 * 2
    while (n % radix == 0 && !(radix == 8 && n % 16 == 0 && n % 32 != 0)) {
      radices.push_back(radix);
      n /= radix;
    }
  }
  if (n > 1) radices.push_back(n);
  return radices;
}

}  // namespace

struct Fft::Chirp {
  explicit Chirp(std::size_t n);
  void transform(const Complex* x, std::size_t stride, Complex* y, Complex* scratch) const;

  Fft fft;
  std::vector<real> turns;     ///< e^(-i pi t t / n) for t < n
  std::vector<real> spectrum;  ///< of the conjugate chirp, wrapped around 0, divided by the length
};

Fft::Chirp::Chirp(std::size_t n) : fft(fast_fft_size(2 * n - 1)) {
  for (std::size_t t = 0; t < n; ++t) add_turn(t * t % (2 * n), 2 * n, turns);
  const std::size_t M = fft.size();
  std::vector<Complex> kernel(M, {RowLanes{}, RowLanes{}}), transformed(M);
  for (std::size_t t = 0; t < n; ++t) {
    const real* w = turns.data() + 2 * t;
    kernel[t] = kernel[(M - t) % M] = {all_lanes(w[0]), all_lanes(-w[1])};
  }
  fft.transform(kernel.data(), 1, transformed.data(), nullptr);
  for (const Complex& value : transformed)
    spectrum.insert(spectrum.end(), {value.re[0] / real(M), value.im[0] / real(M)});
}

void Fft::Chirp::transform(const Complex* x, std::size_t stride, Complex* y,
                           Complex* scratch) const {
  const std::size_t M = fft.size(), n = turns.size() / 2;
  Complex* other = scratch + M;
  for (std::size_t t = 0; t < n; ++t) scratch[t] = turned(x[t * stride], turns.data() + 2 * t);
  std::fill(scratch + n, scratch + M, Complex{RowLanes{}, RowLanes{}});
  fft.transform(scratch, 1, other, nullptr);
  for (std::size_t k = 0; k < M; ++k)
    other[k] = mirrored(turned(other[k], spectrum.data() + 2 * k));
  fft.transform(other, 1, scratch, nullptr);
  for (std::size_t k = 0; k < n; ++k) y[k] = turned(mirrored(scratch[k]), turns.data() + 2 * k);
}

Fft::Fft(std::size_t n) : n_(n) {
  require(n >= 1, "fft", "needs at least one element");
  const std::vector<std::size_t> radices = radices_of(n);
  if (!radices.empty() && radices.back() > largest_radix) {
    chirp_ = std::make_shared<const Chirp>(n);
  } else {
    for (std::size_t radix : radices) add_pass(radix, passes_.empty() ? n : passes_.back().m);
  }
}

void Fft::add_pass(std::size_t radix, std::size_t n) {
  Pass pass{radix, n / radix, {}, {}};
  for (std::size_t k = 0; k < pass.m; ++k) {
    for (std::size_t j = 1; j < radix; ++j) add_turn(j * k, n, pass.twiddles);
  }
  for (std::size_t j = 0; j < radix; ++j) add_turn(j, radix, pass.turns);
  passes_.push_back(std::move(pass));
}

std::size_t Fft::scratch() const { return chirp_ ? 2 * chirp_->fft.size() : 0; }

void Fft::transform(const Complex* x, std::size_t stride, Complex* y, Complex* scratch) const {
  if (chirp_) return chirp_->transform(x, stride, y, scratch);
  if (passes_.empty()) {
    *y = *x;
  } else {
    recurse(passes_.data(), x, stride, y);
  }
}

/// Recurses depth first, so that what fits a cache stays there.
void Fft::recurse(const Pass* pass, const Complex* x, std::size_t stride, Complex* y) const {
  const std::size_t R = pass->radix, m = pass->m;
  for (std::size_t j = 0; m > 1 && j < R; ++j)
    recurse(pass + 1, x + j * stride, stride * R, y + j * m);
  with_radix(R, [&](auto radix) {
    if (m == 1) return gather_pass<radix>(pass->turns.data(), x, stride, y);
    join_pass<radix>(m, pass->twiddles.data(), pass->turns.data(), y);
  });
}

RealFft::RealFft(std::size_t n) : n_(n), fft_(n % 2 == 0 ? n / 2 : n) {
  for (std::size_t k = 0; k <= n / 4; ++k) add_turn(k, n, turns_);
}

std::shared_ptr<const RealFft> RealFft::of(std::size_t n) {
  static std::mutex mutex;
  static std::list<std::shared_ptr<const RealFft>> made;  // most recently used first
  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find(made, n, [](const auto& fft) { return fft->size(); });
  if (found != made.end()) {
    made.splice(made.begin(), made, found);
  } else {
    made.push_front(std::make_shared<const RealFft>(n));
    if (made.size() > max_cached_plans) made.pop_back();
  }
  return made.front();
}

void RealFft::forward(const RowLanes* x, Complex* y, Complex* scratch) const {
  const std::size_t h = fft_.size();
  Complex *z = scratch, *rest = scratch + own_scratch();
  if (n_ % 2 == 1) {
    for (std::size_t t = 0; t < n_; ++t) scratch[h + t] = {x[t], RowLanes{}};
    fft_.transform(scratch + h, 1, z, rest);
    std::copy_n(z, bins(), y);
    return;
  }
  fft_.transform(reinterpret_cast<const Complex*>(x), 1, z, rest);
  const RowLanes half = all_lanes(real(0.5));
  for (std::size_t k = 0; k <= h / 2; ++k) {
    const Complex a = z[k], b = mirrored(z[k == 0 ? 0 : h - k]);
    const Complex even = scaled(a + b, half);
    const Complex odd = turned(quarter_turn(scaled(a - b, half)), turns_.data() + 2 * k);
    y[k] = even + odd;
    y[h - k] = mirrored(even - odd);
  }
}

void RealFft::backward(const Complex* x, RowLanes* y, Complex* scratch) const {
  const std::size_t h = fft_.size();
  Complex *z = scratch, *rest = scratch + own_scratch();
  if (n_ % 2 == 1) {
    z[0] = {x[0].re, RowLanes{}};
    for (std::size_t k = 1; k < bins(); ++k) z[k] = mirrored(x[k]), z[n_ - k] = x[k];
    fft_.transform(z, 1, scratch + h, rest);
    for (std::size_t t = 0; t < n_; ++t) y[t] = scratch[h + t].re;
    return;
  }
  z[0] = {x[0].re + x[h].re, x[h].re - x[0].re};
  for (std::size_t k = 1; k <= h / 2; ++k) {
    const Complex a = mirrored(x[k]), b = x[h - k];
    const Complex even = a + b, odd = turned(quarter_turn(a - b), turns_.data() + 2 * k);
    z[k] = even + odd;
    z[h - k] = mirrored(even - odd);
  }
  Complex* pairs = reinterpret_cast<Complex*>(y);
  fft_.transform(z, 1, pairs, rest);
  for (std::size_t t = 0; t < h; ++t) pairs[t].im = -pairs[t].im;
}

namespace {

/// `count` rows from `first` on, one per lane; the other lanes are zero.
struct RowTask {
  std::size_t first, count;
  RowLanes* rows;
  Complex *bins, *scratch;
};

constexpr std::size_t transform_grain = 4096;

template <class Body>
void for_row_tasks(std::size_t rows, const RealFft& fft, const Body& body) {
  const std::size_t n = fft.size(), lane = row_lanes;
  const std::size_t elements = n + 2 * (fft.bins() + fft.scratch());
  const Scratch<real> memory(elements * lane);
  const std::size_t tasks = ceil_div(rows, lane);
  parallel_each(tasks, ceil_div(transform_grain, n), [&](std::size_t task) {
    RowLanes* place = reinterpret_cast<RowLanes*>(memory.local());
    Complex* bins = reinterpret_cast<Complex*>(place + n);
    const std::size_t first = task * lane, count = std::min(lane, rows - first);
    body(RowTask{first, count, place, bins, bins + fft.bins()});
  });
}

void weigh_bins(Complex* bins, std::size_t n, BinWeights weights) {
  if (weights.own == 1 && weights.paired == 1) return;
  const RowLanes own = all_lanes(weights.own), paired = all_lanes(weights.paired);
  for (std::size_t k = 0; k < n / 2 + 1; ++k)
    bins[k] = scaled(bins[k], k == 0 || 2 * k == n ? own : paired);
}

}  // namespace

void fft_rows(std::size_t rows, std::size_t n, const real* x, real* y, BinWeights weights) {
  const auto fft = RealFft::of(n);
  const std::size_t bins = fft->bins();
  for_row_tasks(rows, *fft, [&](const RowTask& task) {
    rows_to_lanes(task.count, n, x + task.first * n, n, task.rows, 1);
    fft->forward(task.rows, task.bins, task.scratch);
    weigh_bins(task.bins, n, weights);
    real* to = y + task.first * 2 * bins;
    lanes_to_rows(task.count, bins, &task.bins->re, 2, to, 2 * bins);
    lanes_to_rows(task.count, bins, &task.bins->im, 2, to + bins, 2 * bins);
  });
}

void backward_fft_rows(std::size_t rows, std::size_t n, const real* x, real* y,
                       BinWeights weights) {
  const auto fft = RealFft::of(n);
  const std::size_t bins = fft->bins();
  for_row_tasks(rows, *fft, [&](const RowTask& task) {
    const real* from = x + task.first * 2 * bins;
    rows_to_lanes(task.count, bins, from, 2 * bins, &task.bins->re, 2);
    rows_to_lanes(task.count, bins, from + bins, 2 * bins, &task.bins->im, 2);
    weigh_bins(task.bins, n, weights);
    fft->backward(task.bins, task.rows, task.scratch);
    lanes_to_rows(task.count, n, task.rows, 1, y + task.first * n, n);
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/row_lanes.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using bochner::fused_number;
RowLanes fused_number(RowLanes a, RowLanes b, RowLanes c) { return fused_lanes(a, b, c); }

/// Neighbouring channels, or one. (As a template argument, a vector would lose its alignment.)
struct Neighbours {
  typedef RowLanes Lanes;
};
struct Single {
  typedef real Lanes;
};

template <class Width>
struct RealNumber {
  typedef typename Width::Lanes V;
  V re;
  static RealNumber load(const real* p, std::size_t) { return {*reinterpret_cast<const V*>(p)}; }
  void store(real* p, std::size_t) const { *reinterpret_cast<V*>(p) = re; }
  static RealNumber fold(const RealNumber& a, const RealNumber& h, const RealNumber& x) {
    return {fused_number(a.re, h.re, x.re)};
  }
  static RealNumber fold_back(const RealNumber& a, const RealNumber& g, const RealNumber& x) {
    return fold(a, g, x);
  }
};

/// A complex number; imaginary parts are n elements after the real ones.
template <class Width>
struct ComplexNumber {
  typedef typename Width::Lanes V;
  V re, im;
  static ComplexNumber load(const real* p, std::size_t n) {
    return {*reinterpret_cast<const V*>(p), *reinterpret_cast<const V*>(p + n)};
  }
  void store(real* p, std::size_t n) const {
    *reinterpret_cast<V*>(p) = re;
    *reinterpret_cast<V*>(p + n) = im;
  }
  static ComplexNumber fold(const ComplexNumber& a, const ComplexNumber& h,
                            const ComplexNumber& x) {
    return {fused_number(-a.im, h.im, fused_number(a.re, h.re, x.re)),
            fused_number(a.im, h.re, fused_number(a.re, h.im, x.im))};
  }
  static ComplexNumber fold_back(const ComplexNumber& a, const ComplexNumber& g,
                                 const ComplexNumber& x) {
    return {fused_number(a.im, g.im, fused_number(a.re, g.re, x.re)),
            fused_number(-a.im, g.re, fused_number(a.re, g.im, x.im))};
  }
};

/// Sizes of a scan. A channel is a number: the `row` reals of a token are `n` channels.
struct ScanSizes {
  std::size_t B, T, n, row;
  bool own_decays;  ///< decays per token
  ScanOptions options;

  std::size_t length(std::size_t b) const { return options.length(b, T); }
  /// Returns the step between tokens in scan order, for rows and for decays.
  std::ptrdiff_t stride() const { return options.reverse ? -std::ptrdiff_t(row) : row; }
  std::ptrdiff_t decay_stride() const { return own_decays ? stride() : 0; }
  /// Returns the row of step s in scan order.
  std::size_t row_of(std::size_t b, std::size_t s) const {
    return (b * T + (options.reverse ? length(b) - 1 - s : s)) * row;
  }
  /// Returns channels per task: whole rows read faster, but few sequences need many tasks.
  std::size_t block() const {
    const std::size_t wanted = ceil_div(8, std::max<std::size_t>(B, 1));
    return std::clamp<std::size_t>(n / wanted / 64 * 64, 64, 512);
  }
};

/// Calls body(b, first channel, channels) for all channels of all sequences.
template <class Body>
void each_block(const ScanSizes& z, const Body& body) {
  const std::size_t size = z.block(), blocks = ceil_div(z.n, size);
  parallel_tasks(z.B * blocks, [&](std::size_t task) {
    const std::size_t first = task % blocks * size;
    body(task / blocks, first, std::min(size, z.n - first));
  });
}

/// Vectors of channels in registers, and tokens per tile, within reach of hardware prefetching.
template <template <class> class Number>
constexpr std::size_t vectors_at_once = sizeof(Number<Single>) == sizeof(real) ? 4 : 2;
constexpr std::size_t scan_tile = 16;

/// Calls body.operator()<Number, K>(channel) for as many channels at once as possible.
template <template <class> class Number, class Body>
void each_number(std::size_t first, std::size_t count, const Body& body) {
  constexpr std::size_t K = vectors_at_once<Number>;
  std::size_t c = first;
  for (; c + K * row_lanes <= first + count; c += K * row_lanes)
    body.template operator()<Number<Neighbours>, K>(c);
  for (; c + row_lanes <= first + count; c += row_lanes)
    body.template operator()<Number<Neighbours>, 1>(c);
  for (; c < first + count; ++c) body.template operator()<Number<Single>, 1>(c);
}

template <class Value, std::size_t K>
struct Numbers {
  Value at[K];
  static constexpr std::size_t width = sizeof(typename Value::V) / sizeof(real);
  void load(const real* p, std::size_t n) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < K; ++k) at[k] = Value::load(p + k * width, n);
  }
  void store(real* p, std::size_t n) const {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < K; ++k) at[k].store(p + k * width, n);
  }
};

/// Scans a few channels over a tile of tokens; pointers are at its first token and channel.
template <class Value, std::size_t K>
void forward_tile(const ScanSizes& z, std::size_t steps, const real* a, const real* x,
                  const real* before, real* h) {
  const std::size_t n = z.n;  // a copy: for all the compiler knows, stores could change z
  const std::ptrdiff_t stride = z.stride(), decay_stride = z.decay_stride();
  Numbers<Value, K> state, decay, input;
  state.load(before, n);
  for (std::size_t s = 0; s < steps; ++s) {
    decay.load(a, n);
    input.load(x, n);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < K; ++k)
      state.at[k] = Value::fold(decay.at[k], state.at[k], input.at[k]);
    state.store(h, n);
    a += decay_stride, x += stride, h += stride;
  }
}

void clear_padding(const ScanSizes& z, std::size_t b, real* x) {
  std::fill(x + (b * z.T + z.length(b)) * z.row, x + (b + 1) * z.T * z.row, real(0));
}

template <template <class> class Number>
Tensor scan_forward(const ScanSizes& z, const Tensor& a, const Tensor& x, const real* start) {
  Tensor h = uninitialized(x.shape());
  const Tensor none = zeros({z.row});
  each_block(z, [&](std::size_t b, std::size_t first, std::size_t count) {
    for (std::size_t s = 0; s < z.length(b); s += scan_tile) {
      const std::size_t steps = std::min(scan_tile, z.length(b) - s), row = z.row_of(b, s);
      const real* before = s > 0   ? h.data() + z.row_of(b, s - 1)
                           : start ? start + b * z.row
                                   : none.data();
      each_number<Number>(first, count, [&]<class Value, std::size_t K>(std::size_t c) {
        forward_tile<Value, K>(z, steps, a.data() + (z.own_decays ? row : 0) + c,
                               x.data() + row + c, before + c, h.data() + row + c);
      });
    }
  });
  for (std::size_t b = 0; b < z.B; ++b) clear_padding(z, b, h.data());
  return h;
}

/// Destinations of gradients: of a (B, T, row), or of a tile's shared decays and their sums, both
/// (B, row); of the start (B, row). Null where not wanted.
struct ScanGradients {
  real* a;
  double* sums;
  real* start;
};

/// Scans gradients, last token first: g_t += conj(a_(t+1)) g_(t+1). `da` is null, at the tile's
/// first token, or at the sums of the tile.
template <class Value, std::size_t K>
void backward_tile(const ScanSizes& z, std::size_t steps, bool is_last, const real* a,
                   const real* before, const real* h, real* g, real* da) {
  const std::size_t n = z.n;
  const std::ptrdiff_t stride = z.stride(), decay_stride = z.decay_stride();
  const bool own = z.own_decays;
  Numbers<Value, K> adjoint{}, decay{}, input, sum{};
  const auto last = std::ptrdiff_t(steps);
  if (!is_last) {
    adjoint.load(g + last * stride, n);
    decay.load(a + last * decay_stride, n);
  }
  for (std::ptrdiff_t s = last; s-- > 0;) {
    input.load(g + s * stride, n);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < K; ++k)
      adjoint.at[k] = Value::fold_back(decay.at[k], adjoint.at[k], input.at[k]);
    adjoint.store(g + s * stride, n);
    decay.load(a + s * decay_stride, n);
    if (!da) continue;
    input.load(s > 0 ? h + (s - 1) * stride : before, n);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < K; ++k)
      sum.at[k] = Value::fold_back(input.at[k], adjoint.at[k], own ? Value{} : sum.at[k]);
    if (own) sum.store(da + s * stride, n);
  }
  if (da && !own) sum.store(da, n);
}

/// Adds the sums of a tile to those of the sequence, which may be long.
void join_tile(const ScanSizes& z, std::size_t b, std::size_t first, std::size_t count,
               const ScanGradients& to) {
  for (std::size_t part = b * z.row + first; part < (b + 1) * z.row; part += z.n) {
    for (std::size_t c = part; c < part + count; ++c) to.sums[c] += double(to.a[c]);
  }
}

/// Computes conj(a_0) g_0, the gradient of the start.
template <template <class> class Number>
void start_gradient(const ScanSizes& z, std::size_t b, std::size_t first, std::size_t count,
                    const Tensor& a, const real* g, real* start) {
  const bool empty = z.length(b) == 0;
  const std::size_t row = empty ? 0 : z.row_of(b, 0);
  each_number<Number>(first, count, [&]<class Value, std::size_t K>(std::size_t c) {
    Numbers<Value, K> decay{}, adjoint{};
    if (!empty) {
      decay.load(a.data() + (z.own_decays ? row : 0) + c, z.n);
      adjoint.load(g + row + c, z.n);
    }
    for (std::size_t k = 0; k < K; ++k)
      adjoint.at[k] = Value::fold_back(decay.at[k], adjoint.at[k], Value{});
    adjoint.store(start + b * z.row + c, z.n);
  });
}

template <template <class> class Number>
void scan_backward(const ScanSizes& z, const Tensor& a, const Tensor& h, const real* start, real* g,
                   const ScanGradients& to) {
  const Tensor none = zeros({z.row});
  each_block(z, [&](std::size_t b, std::size_t first, std::size_t count) {
    const std::size_t length = z.length(b), tiles = ceil_div(length, scan_tile);
    for (std::size_t i = tiles; i-- > 0;) {
      const std::size_t s = i * scan_tile, steps = std::min(scan_tile, length - s),
                        row = z.row_of(b, s);
      const real* before = s > 0   ? h.data() + z.row_of(b, s - 1)
                           : start ? start + b * z.row
                                   : none.data();
      each_number<Number>(first, count, [&]<class Value, std::size_t K>(std::size_t c) {
        backward_tile<Value, K>(z, steps, i + 1 == tiles, a.data() + (z.own_decays ? row : 0) + c,
                                before + c, h.data() + row + c, g + row + c,
                                to.a ? to.a + (z.own_decays ? row : b * z.row) + c : nullptr);
      });
      if (to.sums) join_tile(z, b, first, count, to);
    }
    if (to.start) start_gradient<Number>(z, b, first, count, a, g, to.start);
  });
}

ScanSizes sizes_of(const char* op, const Var& a, const Var& x, const Var& start, std::size_t parts,
                   const ScanOptions& options) {
  require(x.rank() == 3 && x.dim(2) % parts == 0, op, "x must be (B, T, ", parts > 1 ? "2n" : "n",
          "): x ", x.shape());
  const bool own = a.rank() == 3;
  require(own ? a.shape() == x.shape() : a.rank() == 1 && a.dim(0) == x.dim(2), op,
          "decays must be those of the channels or of x: a ", a.shape(), ", x ", x.shape());
  require(!start.exists() ||
              (start.rank() == 2 && start.dim(0) == x.dim(0) && start.dim(1) == x.dim(2)),
          op, "start must be (B, n) for x (B, T, n): start ",
          start.exists() ? start.shape() : Shape(), ", x ", x.shape());
  options.check(op, x.dim(0), x.dim(1));
  return {x.dim(0), x.dim(1), x.dim(2) / parts, x.dim(2), own, options};
}

/// Turns the gradient of h into that of x.
template <template <class> class Number>
void add_scan_gradients(const ScanSizes& z, const Var& a, const Var& x, const Var& start,
                        const Tensor& h, Tensor& g) {
  const bool learned = a.needs_gradient(), shared = learned && !z.own_decays;
  Tensor da, dstart;
  if (learned) da = uninitialized(shared ? Shape{z.B, z.row} : h.shape());
  if (start.needs_gradient()) dstart = uninitialized({z.B, z.row});
  std::vector<double> sums(shared ? z.B * z.row : 0);
  scan_backward<Number>(z, a.value(), h, start.exists() ? start.data() : nullptr, g.data(),
                        {learned ? da.data() : nullptr, shared ? sums.data() : nullptr,
                         start.needs_gradient() ? dstart.data() : nullptr});
  for (std::size_t b = 0; b < z.B; ++b) {
    clear_padding(z, b, g.data());
    if (learned && !shared) clear_padding(z, b, da.data());
  }
  if (learned) a.add_gradient(shared ? sum_repeats(sums, a.shape()) : std::move(da));
  x.add_gradient(std::move(g));
  if (start.needs_gradient()) start.add_gradient(std::move(dstart));
}

/// Returns the product of real numbers, or of complex ones if `parts` is 2.
Var scan_product(std::size_t parts, const Var& a, const Var& b) {
  if (parts == 1) return a * b;
  const std::size_t n = a.dim(-1) / 2;
  const auto part = [n](const Var& x, std::size_t i) { return slice(x, -1, i * n, (i + 1) * n); };
  return concat({part(a, 0) * part(b, 0) - part(a, 1) * part(b, 1),
                 part(a, 0) * part(b, 1) + part(a, 1) * part(b, 0)},
                -1);
}

/// Returns the state that each token continues: its neighbour's, or `start`. (B, T, n)
Var states_before(const Var& h, const Var& start, const ScanOptions& options) {
  const std::size_t B = h.dim(0), T = h.dim(1), n = h.dim(2), one = std::min<std::size_t>(1, T);
  const bool back = options.reverse;
  const Var before =
      back ? pad(slice(h, 1, one, T), 1, 0, one) : pad(slice(h, 1, 0, T - one), 1, one, 0);
  if (!start.exists()) return before;
  Tensor first = zeros({B, T, 1});
  for (std::size_t b = 0; b < B; ++b) {
    const std::size_t length = options.length(b, T);
    if (length > 0) first.data()[b * T + (back ? length - 1 : 0)] = 1;
  }
  return before + reshape(start, {B, 1, n}) * first;
}

template <template <class> class Number>
Var scan(const char* op, std::size_t parts, const Var& a, const Var& x, const Var& start,
         const ScanOptions& options) {
  const ScanSizes z = sizes_of(op, a, x, start, parts, options);
  Tensor h = scan_forward<Number>(z, a.value(), x.value(), start.exists() ? start.data() : nullptr);
  return record(op, std::move(h), {a, x, start},
                [a, x = x.gradient_only(), start, z](const Tensor& h, Tensor& g) {
                  add_scan_gradients<Number>(z, a, x, start, h, g);
                },
                {{a,
                  [&](const Var& d, const Var& h) {
                    return scan<Number>(op, parts, a,
                                        scan_product(parts, d, states_before(h, start, options)),
                                        {}, options);
                  }},
                 {x, [&](const Var& d) { return scan<Number>(op, parts, a, d, {}, options); }},
                 {start, [&](const Var& d) {
                    return scan<Number>(op, parts, a, Var(zeros(x.shape())), d, options);
                  }}});
}

}  // namespace

void ScanOptions::check(const char* op, std::size_t B, std::size_t T) const {
  require(lengths.empty() || lengths.size() == B, op, lengths.size(), " lengths for ", B,
          " sequences");
  for (const std::size_t length : lengths)
    require(length <= T, op, "a length of ", length, " for sequences of ", T, " tokens");
}

Var diagonal_scan(const Var& a, const Var& x, const Var& start, const ScanOptions& options) {
  return scan<RealNumber>("diagonal_scan", 1, a, x, start, options);
}

Var complex_scan(const Var& a, const Var& x, const Var& start, const ScanOptions& options) {
  return scan<ComplexNumber>("complex_scan", 2, a, x, start, options);
}

}  // namespace bochner::inline BOCHNER_PRECISION

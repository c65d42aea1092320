#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/products.hpp>
#include <bochner/autodiff/ops/conv.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// No position: beyond the edge.
constexpr std::size_t no_place = ~std::size_t(0);

struct WindowAxis {
  std::size_t n, size, stride, padding;
  std::size_t count() const {
    return n + 2 * padding < size ? 0 : (n + 2 * padding - size) / stride + 1;
  }
  std::size_t seen(std::size_t window, std::size_t tap) const {
    const std::size_t place = window * stride + tap;
    return place < padding || place - padding >= n ? no_place : place - padding;
  }
  /// Returns the window that sees a position with this tap.
  std::size_t seeing(std::size_t place, std::size_t tap) const {
    if (place + padding < tap || (place + padding - tap) % stride != 0) return no_place;
    const std::size_t window = (place + padding - tap) / stride;
    return window < count() ? window : no_place;
  }
};

/// Windows over the rows and columns of images (B, R, S, ..); taps are numbered row by row.
struct SlidingWindow {
  std::size_t batch;
  WindowAxis rows, columns;

  std::size_t taps() const { return rows.size * columns.size; }
  std::size_t places() const { return batch * rows.n * columns.n; }
  std::size_t windows() const { return batch * rows.count() * columns.count(); }

  /// Computes the position that each tap of a window sees. -> (taps)
  void seen(std::size_t window, std::size_t* places) const {
    const std::size_t R = rows.count(), S = columns.count(), image = window / (R * S);
    for_taps([&](std::size_t u, std::size_t v) {
      const std::size_t row = rows.seen(window / S % R, u), column = columns.seen(window % S, v);
      *places++ = row == no_place || column == no_place
                      ? no_place
                      : (image * rows.n + row) * columns.n + column;
    });
  }
  /// Computes the window that sees a position with each tap. -> (taps)
  void seeing(std::size_t place, std::size_t* windows) const {
    const std::size_t R = rows.n, S = columns.n, image = place / (R * S);
    for_taps([&](std::size_t u, std::size_t v) {
      const std::size_t row = rows.seeing(place / S % R, u), column = columns.seeing(place % S, v);
      *windows++ = row == no_place || column == no_place
                       ? no_place
                       : (image * rows.count() + row) * columns.count() + column;
    });
  }

 private:
  template <class Body>
  void for_taps(const Body& body) const {
    for (std::size_t u = 0; u < rows.size; ++u)
      for (std::size_t v = 0; v < columns.size; ++v) body(u, v);
  }
};

constexpr std::size_t conv_tile = 256;  ///< windows per product

/// A sliding window, C input channels, E output channels, and groups.
struct ConvShape {
  SlidingWindow window;
  std::size_t C, E, groups;
  std::size_t inputs() const { return C / groups; }
  std::size_t outputs() const { return E / groups; }
  bool is_depthwise() const { return inputs() == 1 && outputs() == 1; }
};

/// The positions seen by each tap of a target: fill(target, places).
template <class Fill>
struct Taps {
  std::size_t targets, count;
  Fill fill;
};
auto taps_of_windows(const SlidingWindow& window) {
  const auto fill = [window](std::size_t i, std::size_t* places) { window.seen(i, places); };
  return Taps<decltype(fill)>{window.windows(), window.taps(), fill};
}
auto taps_of_places(const SlidingWindow& window) {
  const auto fill = [window](std::size_t i, std::size_t* places) { window.seeing(i, places); };
  return Taps<decltype(fill)>{window.places(), window.taps(), fill};
}

/// Gathers `n` channels of each tap of the targets, zero outside. (.., ld) -> (end - begin, taps n)
template <class Seen>
void fill_columns(const Seen& taps, std::size_t begin, std::size_t end, const real* from,
                  std::size_t ld, std::size_t n, real* columns) {
  std::vector<std::size_t> places(taps.count);
  for (std::size_t target = begin; target < end; ++target) {
    taps.fill(target, places.data());
    for (const std::size_t place : places) {
      if (place == no_place)
        std::fill_n(columns, n, real(0));
      else
        std::copy_n(from + place * ld, n, columns);
      columns += n;
    }
  }
}

/// Adds gathered columns (targets, taps n) times weights (taps n, M) to `to` (targets, M).
template <class Seen>
void add_products(const Seen& taps, const real* from, std::size_t from_ld, std::size_t n,
                  const Operand& weights, std::size_t M, real* to, std::size_t to_ld) {
  const std::size_t K = taps.count * n;
  const Scratch<real> scratch(conv_tile * K);
  parallel_for(taps.targets, conv_tile, [&](std::size_t begin, std::size_t end) {
    fill_columns(taps, begin, end, from, from_ld, n, scratch.local());
    gemm(end - begin, M, K, {scratch.local(), K}, weights, 1, to + begin * to_ld, to_ld);
  });
}

/// Adds to_c += sum over taps of w_c from_c, per channel. (targets, C)
template <class Seen>
void add_depthwise(const Seen& taps, const real* from, const real* w, std::size_t C, real* to) {
  const std::size_t grain = row_grain(taps.targets, taps.count * C);
  parallel_for(taps.targets, grain, [&](std::size_t begin, std::size_t end) {
    std::vector<std::size_t> places(taps.count);
    for (std::size_t target = begin; target < end; ++target) {
      taps.fill(target, places.data());
      for (std::size_t k = 0; k < taps.count; ++k) {
        if (places[k] == no_place) continue;
        const real *seen = from + places[k] * C, *tap = w + k * C;
        real* sum = to + target * C;
        for (std::size_t c = 0; c < C; ++c) sum[c] += tap[c] * seen[c];
      }
    }
  });
}

/// Adds dw_kc += sum over windows of g_c x_c, at most 256 chunks of windows joined in order.
void add_depthwise_taps(const ConvShape& shape, const real* x, const real* g, real* dw) {
  const auto taps = taps_of_windows(shape.window);
  const std::size_t C = shape.C, n = taps.count * C;
  const std::size_t grain =
      std::max({std::size_t(64), row_grain(taps.targets, n), ceil_div(taps.targets, 256)});
  const auto add_windows = [&](std::size_t begin, std::size_t end, real* chunk) {
    std::vector<std::size_t> places(taps.count);
    for (std::size_t window = begin; window < end; ++window) {
      taps.fill(window, places.data());
      for (std::size_t k = 0; k < taps.count; ++k) {
        if (places[k] == no_place) continue;
        const real *seen = x + places[k] * C, *gradient = g + window * C;
        for (std::size_t c = 0; c < C; ++c) chunk[k * C + c] += gradient[c] * seen[c];
      }
    }
  };
  accumulate_in_chunks(taps.targets, grain, n, dw, add_windows);
}

/// Adds dw (taps C / groups, E) += columns^T g over all tiles, group by group.
void add_weight_gradient(const ConvShape& shape, const real* x, const real* g, real* dw) {
  const auto taps = taps_of_windows(shape.window);
  const std::size_t n = shape.inputs(), M = shape.outputs(), K = taps.count * n;
  const Scratch<real> scratch(conv_tile * K);
  const std::size_t tiles = ceil_div(taps.targets, conv_tile);
  const ProductSums sums{shape.groups, tiles, K, M, conv_tile, dw, M, shape.E};
  accumulate_products(
      sums, [&](std::size_t group, std::size_t tile, real beta, real* c, std::size_t ldc) {
        const std::size_t begin = tile * conv_tile, end = std::min(taps.targets, begin + conv_tile);
        fill_columns(taps, begin, end, x + group * n, shape.C, n, scratch.local());
        gemm(K, M, end - begin, {scratch.local(), K, transposed},
             {g + begin * shape.E + group * M, shape.E}, beta, c, ldc);
      });
}

/// Reorders w (taps, C / groups, E) to (groups, taps, E / groups, C / groups), for input gradients.
std::vector<real> weights_of_inputs(const ConvShape& shape, const real* w) {
  const std::size_t n = shape.inputs(), M = shape.outputs(), taps = shape.window.taps();
  std::vector<real> turned(shape.groups * taps * M * n);
  for (std::size_t group = 0; group < shape.groups; ++group)
    for (std::size_t k = 0; k < taps; ++k)
      transpose_matrix(n, M, w + k * n * shape.E + group * M, shape.E,
                       turned.data() + (group * taps + k) * M * n, n);
  return turned;
}

void conv_forward(const ConvShape& shape, const real* x, const real* w, real* y) {
  const auto taps = taps_of_windows(shape.window);
  if (shape.is_depthwise()) return add_depthwise(taps, x, w, shape.C, y);
  const std::size_t n = shape.inputs(), M = shape.outputs();
  for (std::size_t group = 0; group < shape.groups; ++group)
    add_products(taps, x + group * n, shape.C, n, {w + group * M, shape.E}, M, y + group * M,
                 shape.E);
}

void conv_backward(const ConvShape& shape, const Var& x, const Var& w, const real* g) {
  const std::size_t n = shape.inputs(), M = shape.outputs();
  const auto taps = taps_of_places(shape.window);
  if (w.needs_gradient()) {
    real* dw = w.gradient_buffer().data();
    shape.is_depthwise() ? add_depthwise_taps(shape, x.data(), g, dw)
                         : add_weight_gradient(shape, x.data(), g, dw);
  }
  if (!x.needs_gradient()) return;
  real* dx = x.gradient_buffer().data();
  if (shape.is_depthwise()) return add_depthwise(taps, g, w.data(), shape.C, dx);
  const std::vector<real> turned = weights_of_inputs(shape, w.data());
  for (std::size_t group = 0; group < shape.groups; ++group)
    add_products(taps, g + group * M, shape.E, M, {turned.data() + group * taps.count * M * n, n},
                 n, dx + group * n, shape.C);
}

void require_groups(const char* op, const Var& x, const Var& w, const ConvOptions& options) {
  const std::size_t groups = options.groups, C = x.dim(-1), E = w.dim(-1);
  require(options.stride >= 1, op, "the stride must be at least 1");
  require(groups >= 1 && C % groups == 0 && E % groups == 0 && w.dim(-2) * groups == C, op,
          "w must be (.., C / groups, E) for x (.., C) and groups that divide C and E: x ",
          x.shape(), ", w ", w.shape(), ", groups ", groups);
}

Var convolved(const char* op, const Var& x, const Var& w, const ConvShape& shape,
              const Shape& result) {
  Tensor y = zeros(result);
  if (y.size() > 0 && x.size() > 0 && w.size() > 0)
    conv_forward(shape, x.data(), w.data(), y.data());
  return record(op, std::move(y), {x, w},
                [x, w, shape](Tensor& g) {
                  if (g.size() > 0 && x.size() > 0 && w.size() > 0)
                    conv_backward(shape, x, w, g.data());
                },
                {{x, [&](const Var& d) { return convolved(op, d, w, shape, result); }},
                 {w, [&](const Var& d) { return convolved(op, x, d, shape, result); }}});
}

SlidingWindow pool_window(const char* op, const Var& x, const PoolOptions& options) {
  require(x.rank() == 3 || x.rank() == 4, op, "x must be (B, T, C) or (B, R, S, C), not ",
          x.shape());
  require(options.size >= 1 && options.padding < options.size, op,
          "needs size >= 1 and padding below it: size ", options.size, ", padding ",
          options.padding);
  const std::size_t stride = options.stride > 0 ? options.stride : options.size;
  const auto axis = [&](int index) {
    return WindowAxis{x.dim(index), options.size, stride, options.padding};
  };
  return {x.dim(0), x.rank() == 4 ? axis(1) : WindowAxis{1, 1, 1, 0}, axis(-2)};
}

Tensor pool_output(const Var& x, const SlidingWindow& window) {
  Shape shape = x.shape();
  if (x.rank() == 4) shape[1] = window.rows.count();
  shape[x.rank() - 2] = window.columns.count();
  return zeros(shape);
}

/// Calls body(target, tap, place) for what targets 0 .. count - 1 see; fill(target, places) as in
/// SlidingWindow. One task per target, taps in order.
template <class Fill, class Body>
void for_each_seen(std::size_t count, std::size_t taps, std::size_t C, const Fill& fill,
                   const Body& body) {
  parallel_for(count, row_grain(count, taps * C), [&](std::size_t begin, std::size_t end) {
    std::vector<std::size_t> places(taps);
    for (std::size_t target = begin; target < end; ++target) {
      fill(target, places.data());
      for (std::size_t tap = 0; tap < taps; ++tap)
        if (places[tap] != no_place) body(target, tap, places[tap]);
    }
  });
}

template <class Body>
void for_each_seen_by_windows(const SlidingWindow& window, std::size_t C, const Body& body) {
  for_each_seen(
      window.windows(), window.taps(), C,
      [&](std::size_t i, std::size_t* places) { window.seen(i, places); }, body);
}

template <class Body>
void for_each_window_that_sees(const SlidingWindow& window, std::size_t C, const Body& body) {
  for_each_seen(
      window.places(), window.taps(), C,
      [&](std::size_t i, std::size_t* windows) { window.seeing(i, windows); }, body);
}

/// Returns 1 / number of positions of each window.
std::vector<real> parts_of_windows(const SlidingWindow& window) {
  std::vector<real> parts(window.windows(), real(0));
  for_each_seen_by_windows(window, 1,
                           [&](std::size_t i, std::size_t, std::size_t) { parts[i] += 1; });
  for (real& part : parts) part = part > 0 ? 1 / part : real(0);
  return parts;
}

}  // namespace

Var conv1d(const Var& x, const Var& w, const ConvOptions& options) {
  require(x.rank() == 3 && w.rank() == 3 && w.dim(0) >= 1, "conv1d",
          "x must be (B, T, C) and w (K, C / groups, E): x ", x.shape(), ", w ", w.shape());
  require_groups("conv1d", x, w, options);
  const SlidingWindow window{
      x.dim(0), {1, 1, 1, 0}, {x.dim(1), w.dim(0), options.stride, options.padding}};
  return convolved("conv1d", x, w, {window, x.dim(2), w.dim(2), options.groups},
                   {x.dim(0), window.columns.count(), w.dim(2)});
}

Var conv2d(const Var& x, const Var& w, const ConvOptions& options) {
  require(x.rank() == 4 && w.rank() == 4 && w.dim(0) >= 1 && w.dim(1) >= 1, "conv2d",
          "x must be (B, R, S, C) and w (K, L, C / groups, E): x ", x.shape(), ", w ", w.shape());
  require_groups("conv2d", x, w, options);
  const SlidingWindow window{x.dim(0),
                             {x.dim(1), w.dim(0), options.stride, options.padding},
                             {x.dim(2), w.dim(1), options.stride, options.padding}};
  return convolved("conv2d", x, w, {window, x.dim(3), w.dim(3), options.groups},
                   {x.dim(0), window.rows.count(), window.columns.count(), w.dim(3)});
}

Var max_pool(const Var& x, const PoolOptions& options) {
  const SlidingWindow window = pool_window("max_pool", x, options);
  Tensor y = pool_output(x, window);
  const std::size_t C = x.dim(-1);
  constexpr std::uint32_t none = ~std::uint32_t(0);
  auto chosen = std::make_shared<std::vector<std::uint32_t>>(y.size(), none);
  for_each_seen_by_windows(
      window, C, [&, tap_of = chosen->data()](std::size_t i, std::size_t tap, std::size_t place) {
        for (std::size_t c = 0; c < C; ++c) {
          const real value = x.data()[place * C + c];
          real& largest = y.data()[i * C + c];
          if (tap_of[i * C + c] != none &&
              !(value > largest || (value != value && largest == largest)))
            continue;
          largest = value;
          tap_of[i * C + c] = std::uint32_t(tap);
        }
      });
  return record("max_pool", std::move(y), {x},
                [x = x.gradient_only(), window, C, chosen](Tensor& g) {
                  real* dx = x.gradient_buffer().data();
                  for_each_window_that_sees(window, C,
                                            [&](std::size_t place, std::size_t tap, std::size_t i) {
                                              for (std::size_t c = 0; c < C; ++c)
                                                if ((*chosen)[i * C + c] == tap)
                                                  dx[place * C + c] += g.data()[i * C + c];
                                            });
                });
}

Var mean_pool(const Var& x, const PoolOptions& options) {
  const SlidingWindow window = pool_window("mean_pool", x, options);
  Tensor y = pool_output(x, window);
  const std::size_t C = x.dim(-1);
  const auto parts = std::make_shared<const std::vector<real>>(parts_of_windows(window));
  for_each_seen_by_windows(window, C, [&](std::size_t i, std::size_t, std::size_t place) {
    for (std::size_t c = 0; c < C; ++c)
      y.data()[i * C + c] += (*parts)[i] * x.data()[place * C + c];
  });
  return record("mean_pool", std::move(y), {x},
                [x = x.gradient_only(), window, C, parts](Tensor& g) {
                  real* dx = x.gradient_buffer().data();
                  for_each_window_that_sees(
                      window, C, [&](std::size_t place, std::size_t, std::size_t i) {
                        for (std::size_t c = 0; c < C; ++c)
                          dx[place * C + c] += (*parts)[i] * g.data()[i * C + c];
                      });
                },
                {{x, [&](const Var& d) { return mean_pool(d, options); }, TangentRule::linear}});
}

}  // namespace bochner::inline BOCHNER_PRECISION

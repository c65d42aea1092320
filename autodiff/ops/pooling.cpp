#include <bochner/autodiff/ops/conv.hpp>
#include <bochner/autodiff/ops/sliding_window.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cstdint>
#include <memory>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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
  return record(
      "mean_pool", std::move(y), {x}, [x = x.gradient_only(), window, C, parts](Tensor& g) {
        real* dx = x.gradient_buffer().data();
        for_each_window_that_sees(window, C, [&](std::size_t place, std::size_t, std::size_t i) {
          for (std::size_t c = 0; c < C; ++c)
            dx[place * C + c] += (*parts)[i] * g.data()[i * C + c];
        });
      });
}

}  // namespace bochner::inline BOCHNER_PRECISION

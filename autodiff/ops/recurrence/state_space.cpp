#include <algorithm>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/channel_lanes.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/gradient_sums.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// States held in registers at a time.
constexpr std::size_t states_forward = many_registers ? 4 : 2,
                      states_backward = many_registers ? 2 : 1;

struct StateSizes {
  std::size_t B, T, N, D, parts;  ///< parts: 2 for complex states
  ScanOptions options;

  std::size_t numbers() const { return parts * N; }
  /// Returns the tokens whose states the backward pass holds at a time: about sqrt(T), since it
  /// also holds the states between chunks.
  std::size_t chunk() const {
    std::size_t tokens = 64;
    while (tokens < 1024 && tokens * tokens < T) tokens *= 2;
    return tokens;
  }
  std::size_t chunks() const { return ceil_div(T, chunk()); }
  std::size_t tasks() const { return B * lane_groups(D); }
};

/// Loads up to row_lanes channels of rows `stride` apart; lanes without a channel are zero.
void load_channels(const real* from, std::ptrdiff_t stride, std::size_t rows, std::size_t count,
                   RowLanes* to) {
  for (std::size_t i = 0; i < rows; ++i, from += stride) to[i] = load_lanes(from, count);
}

void store_channels(const RowLanes* from, std::ptrdiff_t stride, std::size_t rows,
                    std::size_t count, real* to) {
  for (std::size_t i = 0; i < rows; ++i, to += stride) store_lanes(from[i], count, to);
}

RowLanes* take_lanes(Arena& arena, std::size_t count) {
  real* memory;
  arena.take(count * row_lanes, memory);
  return reinterpret_cast<RowLanes*>(memory);
}

/// row_lanes channels of one sequence; tokens are numbered in scan order.
struct Channels {
  Channels(const StateSizes& sizes, std::size_t task, Arena& arena)
      : z(sizes),
        b(task / lane_groups(z.D)),
        first(task % lane_groups(z.D) * row_lanes),
        count(std::min(row_lanes, z.D - first)),
        length(z.options.length(b, z.T)),
        decay(take_lanes(arena, z.numbers())),
        weight(take_lanes(arena, z.numbers())),
        state(take_lanes(arena, z.numbers())),
        u(take_lanes(arena, z.chunk())) {}

  void begin(const real* a, const real* w) {
    load_channels(a + first, std::ptrdiff_t(z.D), z.numbers(), count, decay);
    load_channels(w + first, std::ptrdiff_t(z.D), z.numbers(), count, weight);
    clear_lanes(state, z.numbers());
  }
  std::size_t place_of(std::size_t step) const {
    return (b * z.T + (z.options.reverse ? length - 1 - step : step)) * z.D + first;
  }
  std::ptrdiff_t stride() const { return std::ptrdiff_t(z.D) * (z.options.reverse ? -1 : 1); }
  void load(const real* x, std::size_t step, std::size_t steps, RowLanes* to) const {
    load_channels(x + place_of(step), stride(), steps, count, to);
  }
  void store(const RowLanes* from, std::size_t step, std::size_t steps, real* x) const {
    store_channels(from, stride(), steps, count, x + place_of(step));
  }
  void clear_rest(real* x) const {
    for (std::size_t t = length; t < z.T; ++t)
      std::fill_n(x + (b * z.T + t) * z.D + first, count, real(0));
  }

  const StateSizes& z;
  std::size_t b, first, count, length;
  RowLanes *decay, *weight, *state, *u;
};

/// Channels with scratch memory for the backward pass.
struct ChannelsBack : Channels {
  ChannelsBack(const StateSizes& sizes, std::size_t task, Arena& arena)
      : Channels(sizes, task, arena),
        gradient(take_lanes(arena, z.chunk())),
        du(take_lanes(arena, z.chunk())),
        history(take_lanes(arena, z.parts * states_backward * (z.chunk() + 1))),
        starts(take_lanes(arena, z.numbers() * z.chunks())),
        adjoint(take_lanes(arena, z.numbers())),
        ddecay(take_lanes(arena, z.numbers())),
        dweight(take_lanes(arena, z.numbers())) {}

  RowLanes *gradient, *du, *history, *starts, *adjoint, *ddecay, *dweight;
};

template <std::size_t parts, std::size_t S>
struct RegisterStates {
  RowLanes re[S], im[S];
  void load(const RowLanes* from, std::size_t N, std::size_t n) {
#pragma GCC unroll 4
    for (std::size_t s = 0; s < S; ++s) {
      re[s] = from[n + s];
      if constexpr (parts == 2) im[s] = from[N + n + s];
    }
  }
  void store(RowLanes* to, std::size_t N, std::size_t n) const {
#pragma GCC unroll 4
    for (std::size_t s = 0; s < S; ++s) {
      to[n + s] = re[s];
      if constexpr (parts == 2) to[N + n + s] = im[s];
    }
  }
  void add_to(RowLanes* to, std::size_t N, std::size_t n) const {
    for (std::size_t s = 0; s < S; ++s) {
      to[n + s] += re[s];
      if constexpr (parts == 2) to[N + n + s] += im[s];
    }
  }
};

/// Computes h <- a h + u over the next tokens for S states from n on; calls after(t, h) for each.
template <std::size_t parts, std::size_t S, class After>
[[gnu::always_inline]] inline void move_states(Channels& c, std::size_t n, std::size_t steps,
                                               const After& after) {
  RegisterStates<parts, S> a, h;
  a.load(c.decay, c.z.N, n);
  h.load(c.state, c.z.N, n);
  for (std::size_t t = 0; t < steps; ++t) {
    const RowLanes u = c.u[t];
#pragma GCC unroll 4
    for (std::size_t s = 0; s < S; ++s) {
      RowLanes re = fused_lanes(a.re[s], h.re[s], u);
      if constexpr (parts == 2) {
        re = fused_lanes(-a.im[s], h.im[s], re);
        h.im[s] = fused_lanes(a.im[s], h.re[s], a.re[s] * h.im[s]);
      }
      h.re[s] = re;
    }
    after(t, h);
  }
  h.store(c.state, c.z.N, n);
}

/// Calls body.operator()<S>(n) for all states, `most` at a time.
template <std::size_t most, class Body>
void each_states(std::size_t N, const Body& body) {
  std::size_t n = 0;
  for (; n + most <= N; n += most) body.template operator()<most>(n);
  for (; n < N; ++n) body.template operator()<1>(n);
}

template <std::size_t parts>
void forward_chunk(Channels& c, std::size_t steps, RowLanes* y) {
  clear_lanes(y, steps);
  each_states<states_forward>(c.z.N, [&]<std::size_t S>(std::size_t n) {
    RegisterStates<parts, S> w;
    w.load(c.weight, c.z.N, n);
    move_states<parts, S>(c, n, steps, [&](std::size_t t, const RegisterStates<parts, S>& h) {
      RowLanes sum = y[t];
#pragma GCC unroll 4
      for (std::size_t s = 0; s < S; ++s) {
        sum = fused_lanes(w.re[s], h.re[s], sum);
        if constexpr (parts == 2) sum = fused_lanes(-w.im[s], h.im[s], sum);
      }
      y[t] = sum;
    });
  });
}

/// Computes gradients of one chunk for S states from n on, whose values are in the history: G <-
/// conj(a) G + conj(w) g, last token first.
template <std::size_t parts, std::size_t S>
void backward_states(ChannelsBack& c, std::size_t n, std::size_t steps) {
  RegisterStates<parts, S> a, w, adjoint, da{}, dw{};
  a.load(c.decay, c.z.N, n), w.load(c.weight, c.z.N, n), adjoint.load(c.adjoint, c.z.N, n);
  for (std::size_t t = steps; t-- > 0;) {
    const RowLanes g = c.gradient[t];
    const RowLanes *before = c.history + t * parts * S, *here = before + parts * S;
    RowLanes du = c.du[t];
#pragma GCC unroll 4
    for (std::size_t s = 0; s < S; ++s) {
      RowLanes re = fused_lanes(w.re[s], g, a.re[s] * adjoint.re[s]);
      dw.re[s] = fused_lanes(g, here[s], dw.re[s]);
      if constexpr (parts == 2) {
        re = fused_lanes(a.im[s], adjoint.im[s], re);
        const RowLanes im = fused_lanes(-w.im[s], g, a.re[s] * adjoint.im[s]);
        adjoint.im[s] = fused_lanes(-a.im[s], adjoint.re[s], im);
        dw.im[s] = fused_lanes(-g, here[S + s], dw.im[s]);
        da.re[s] = fused_lanes(re, before[s], da.re[s]);
        da.re[s] = fused_lanes(adjoint.im[s], before[S + s], da.re[s]);
        da.im[s] = fused_lanes(adjoint.im[s], before[s], da.im[s]);
        da.im[s] = fused_lanes(-re, before[S + s], da.im[s]);
      } else {
        da.re[s] = fused_lanes(re, before[s], da.re[s]);
      }
      du += adjoint.re[s] = re;
    }
    c.du[t] = du;
  }
  adjoint.store(c.adjoint, c.z.N, n);
  da.add_to(c.ddecay, c.z.N, n);
  dw.add_to(c.dweight, c.z.N, n);
}

template <std::size_t parts>
void backward_chunk(ChannelsBack& c, std::size_t steps) {
  clear_lanes(c.du, steps);
  each_states<states_backward>(c.z.N, [&]<std::size_t S>(std::size_t n) {
    const auto note = [&](std::size_t t, const RegisterStates<parts, S>& h) {
      h.store(c.history + t * parts * S, S, 0);
    };
    RegisterStates<parts, S> start;
    start.load(c.state, c.z.N, n);
    note(0, start);
    move_states<parts, S>(
        c, n, steps, [&](std::size_t t, const RegisterStates<parts, S>& h) { note(t + 1, h); });
    backward_states<parts, S>(c, n, steps);
  });
}

template <std::size_t parts>
void state_space_forward(const StateSizes& z, const real* u, const real* a, const real* w,
                         real* y) {
  const Scratch<real> scratch(scratch_size<Channels>(z, std::size_t(0)) + z.chunk() * row_lanes);
  parallel_tasks(z.tasks(), [&](std::size_t task) {
    Arena arena(scratch.local());
    Channels c(z, task, arena);
    RowLanes* out = take_lanes(arena, z.chunk());
    c.begin(a, w);
    for (std::size_t step = 0; step < c.length; step += z.chunk()) {
      const std::size_t steps = std::min(z.chunk(), c.length - step);
      c.load(u, step, steps, c.u);
      forward_chunk<parts>(c, steps, out);
      c.store(out, step, steps, y);
    }
    c.clear_rest(y);
  });
}

/// Stores the states before every chunk; returns the number of chunks.
template <std::size_t parts>
std::size_t keep_starts(ChannelsBack& c, const real* u) {
  std::size_t chunks = 0;
  for (std::size_t step = 0; step < c.length; step += c.z.chunk(), ++chunks) {
    const std::size_t steps = std::min(c.z.chunk(), c.length - step);
    copy_lanes(c.state, c.z.numbers(), c.starts + chunks * c.z.numbers());
    if (step + steps == c.length) continue;
    c.load(u, step, steps, c.u);
    each_states<states_forward>(c.z.N, [&]<std::size_t S>(std::size_t n) {
      move_states<parts, S>(c, n, steps, [](std::size_t, const RegisterStates<parts, S>&) {});
    });
  }
  return chunks;
}

/// Turns y's gradient into u's; gradients of decays and weights (B, numbers, D) are per sequence.
template <std::size_t parts>
void state_space_backward(const StateSizes& z, const real* u, const real* a, const real* w, real* g,
                          real* da, real* dw) {
  const Scratch<real> scratch(scratch_size<ChannelsBack>(z, std::size_t(0)));
  parallel_tasks(z.tasks(), [&](std::size_t task) {
    Arena arena(scratch.local());
    ChannelsBack c(z, task, arena);
    c.begin(a, w);
    std::size_t chunks = keep_starts<parts>(c, u);
    for (RowLanes* sums : {c.adjoint, c.ddecay, c.dweight}) clear_lanes(sums, z.numbers());
    while (chunks-- > 0) {
      const std::size_t step = chunks * z.chunk(), steps = std::min(z.chunk(), c.length - step);
      copy_lanes(c.starts + chunks * z.numbers(), z.numbers(), c.state);
      c.load(u, step, steps, c.u);
      c.load(g, step, steps, c.gradient);
      backward_chunk<parts>(c, steps);
      c.store(c.du, step, steps, g);
    }
    c.clear_rest(g);
    const std::size_t place = c.b * z.numbers() * z.D + c.first;
    store_channels(c.ddecay, std::ptrdiff_t(z.D), z.numbers(), c.count, da + place);
    store_channels(c.dweight, std::ptrdiff_t(z.D), z.numbers(), c.count, dw + place);
  });
}

template <class Body>
void with_parts(std::size_t parts, const Body& body) {
  parts == 2 ? body.template operator()<2>() : body.template operator()<1>();
}

StateSizes state_sizes(const char* op, const Shape& a, const Shape& w) {
  const std::size_t rank = a.size();
  require((rank == 2 || (rank == 3 && a[0] == 2)) && a == w, op,
          "decays and weights must both be (N, D), or (2, N, D) with imaginary parts: a ", a,
          ", w ", w);
  return {0, 0, a[rank - 2], a[rank - 1], rank == 3 ? std::size_t(2) : std::size_t(1), {}};
}

}  // namespace

Var state_space(const Var& u, const Var& a, const Var& w, const ScanOptions& options) {
  StateSizes z = state_sizes("state_space", a.shape(), w.shape());
  require(u.rank() == 3 && u.dim(2) == z.D, "state_space", "u must be (B, T, D): u ", u.shape(),
          ", a ", a.shape());
  z.B = u.dim(0), z.T = u.dim(1), z.options = options;
  options.check("state_space", z.B, z.T);
  Tensor y = uninitialized(u.shape());
  if (y.size() > 0)
    with_parts(z.parts, [&]<std::size_t parts>() {
      state_space_forward<parts>(z, u.data(), a.data(), w.data(), y.data());
    });
  return record("state_space", std::move(y), {u, a, w}, [u, a, w, z](Tensor& g) {
    if (g.size() == 0) return;
    Tensor da = uninitialized({z.B, z.numbers() * z.D}), dw = uninitialized(da.shape());
    with_parts(z.parts, [&]<std::size_t parts>() {
      state_space_backward<parts>(z, u.data(), a.data(), w.data(), g.data(), da.data(), dw.data());
    });
    add_columns(a, da);
    add_columns(w, dw);
    u.add_gradient(std::move(g));
  });
}

Tensor state_space_step(Tensor& states, const Tensor& u, const Tensor& a, const Tensor& w) {
  const StateSizes z = state_sizes("state_space_step", a.shape(), w.shape());
  require(states.shape() == a.shape() && u.size() == z.D, "state_space_step",
          "states must have the shape of decays, and u must be (D): states ", states.shape(),
          ", a ", a.shape(), ", u ", u.shape());
  const std::size_t imaginary = z.N * z.D;  // offset of the imaginary parts
  Tensor y = zeros({z.D});
  for (std::size_t i = 0; i < imaginary; ++i) {
    real *h = states.data() + i, *sum = y.data() + i % z.D;
    const real *decay = a.data() + i, *weight = w.data() + i, was = *h;
    *h = std::fma(*decay, was, u.data()[i % z.D]);
    if (z.parts == 1) {
      *sum = std::fma(*weight, *h, *sum);
      continue;
    }
    real* im = h + imaginary;
    *h = std::fma(-decay[imaginary], *im, *h);
    *im = std::fma(decay[imaginary], was, *decay * *im);
    *sum = std::fma(*weight, *h, *sum);
    *sum = std::fma(-weight[imaginary], *im, *sum);
  }
  return y;
}

}  // namespace bochner::inline BOCHNER_PRECISION

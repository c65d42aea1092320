#include <algorithm>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr const char* selective_name = "selective_scan";
constexpr std::size_t selective_tile = 16, selective_block = 64;  ///< tokens, channels

struct SelectiveInputs {
  std::size_t B, T, D, N;
  const real *x, *step, *rate, *b, *c;
  const ScanOptions& options;
  std::size_t tiles() const { return ceil_div(T, selective_tile); }
  std::size_t blocks() const { return ceil_div(D, selective_block); }
};

/// Gradients of the inputs: of b and c (blocks, B, T, N), of rates sums (B, N, D).
struct SelectiveGradients {
  real *x, *step, *b, *c;
  double* rate;
};

/// Computes decay = exp(-rate step), (n).
void decay_states(std::size_t n, const real* __restrict rate, const real* __restrict step,
                  real* __restrict decay) {
  for (std::size_t e = 0; e < n; ++e) decay[e] = math::exp(-rate[e] * step[e]);
}
/// Computes y = decay h + b input, (n); y may be h.
void update_states(std::size_t n, const real* __restrict decay, const real* h, real b,
                   const real* __restrict input, real* y) {
  for (std::size_t e = 0; e < n; ++e) y[e] = std::fma(decay[e], h[e], b * input[e]);
}
void add_states(std::size_t n, real factor, const real* __restrict h, real* __restrict y) {
  for (std::size_t e = 0; e < n; ++e) y[e] = std::fma(factor, h[e], y[e]);
}
void multiply_states(std::size_t n, const real* __restrict a, const real* __restrict b,
                     real* __restrict y) {
  for (std::size_t e = 0; e < n; ++e) y[e] = a[e] * b[e];
}

/// Some channels of one sequence.
class SelectiveBlock {
 public:
  SelectiveBlock(const SelectiveInputs& in, std::size_t index, Arena& arena)
      : in_(in),
        b_(index / in.blocks()),
        block_(index % in.blocks()),
        first_(block_ * selective_block),
        count_(std::min(selective_block, in.D - std::min(in.D, first_))),
        length_(in.options.length(b_, in.T)) {
    arena.take(selective_block, decay_, input_);
    arena.take(in.N * selective_block, h_);
  }

  /// Computes the outputs (B, T, D) and, unless null, the states before each tile (B, tiles, N, D).
  void run(real* states, real* y) {
    std::fill_n(h_, in_.N * selective_block, real(0));
    for (std::size_t i = 0; i < length_; ++i) {
      if (states && i % selective_tile == 0) store_states(states + states_at(i / selective_tile));
      const std::size_t row = token(i) * in_.D + first_;
      multiply_states(count_, in_.x + row, in_.step + row, input_);
      std::fill_n(y + row, count_, real(0));
      for (std::size_t n = 0; n < in_.N; ++n) {
        real* h = h_ + n * selective_block;
        decay_states(count_, in_.rate + n * in_.D + first_, in_.step + row, decay_);
        update_states(count_, decay_, h, in_.b[token(i) * in_.N + n], input_, h);
        add_states(count_, in_.c[token(i) * in_.N + n], h, y + row);
      }
    }
  }

 protected:
  /// Returns the index of token i in (B, T), from the last on in reverse.
  std::size_t token(std::size_t i) const {
    return b_ * in_.T + (in_.options.reverse ? length_ - 1 - i : i);
  }
  std::size_t states_at(std::size_t tile) const {
    return (b_ * in_.tiles() + tile) * in_.N * in_.D + first_;
  }
  void store_states(real* to) const {
    for (std::size_t n = 0; n < in_.N; ++n)
      std::copy_n(h_ + n * selective_block, count_, to + n * in_.D);
  }

  const SelectiveInputs& in_;
  std::size_t b_, block_, first_, count_, length_;
  real *decay_, *input_;  // (block)
  real* h_;               // (N, block)
};

/// Backward pass of some channels: tiles from the last to the first, whose states are recomputed.
class SelectiveBlockBack : SelectiveBlock {
 public:
  SelectiveBlockBack(const SelectiveInputs& in, std::size_t index, Arena& arena)
      : SelectiveBlock(in, index, arena) {
    const std::size_t states = in.N * selective_block;
    arena.take(selective_tile * states, decays_);
    arena.take((selective_tile + 1) * states, past_);
    arena.take(states, rates_);
    arena.take(selective_block, input_slope_, step_slope_);
  }

  void run(const real* states, const real* g, const SelectiveGradients& to) {
    std::fill_n(h_, in_.N * selective_block, real(0));  // gradients of the states
    for (std::size_t tile = ceil_div(length_, selective_tile); tile-- > 0;) {
      const std::size_t start = tile * selective_tile;
      const std::size_t count = std::min(selective_tile, length_ - start);
      recompute(states + states_at(tile), start, count);
      std::fill_n(rates_, in_.N * selective_block, real(0));
      for (std::size_t i = count; i-- > 0;) differentiate(start + i, i, g, to);
      for (std::size_t n = 0; n < in_.N; ++n)
        for (std::size_t e = 0; e < count_; ++e)
          to.rate[(b_ * in_.N + n) * in_.D + first_ + e] += double(rates_[n * selective_block + e]);
    }
  }

 private:
  std::size_t row(std::size_t i, std::size_t n) const { return (i * in_.N + n) * selective_block; }

  void recompute(const real* states, std::size_t start, std::size_t count) {
    for (std::size_t n = 0; n < in_.N; ++n)
      std::copy_n(states + n * in_.D, count_, past_ + row(0, n));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t t = token(start + i), at = t * in_.D + first_;
      multiply_states(count_, in_.x + at, in_.step + at, input_);
      for (std::size_t n = 0; n < in_.N; ++n) {
        real* decay = decays_ + row(i, n);
        decay_states(count_, in_.rate + n * in_.D + first_, in_.step + at, decay);
        update_states(count_, decay, past_ + row(i, n), in_.b[t * in_.N + n], input_,
                      past_ + row(i + 1, n));
      }
    }
  }

  /// Differentiates token `i` of the scan, token `within` its tile.
  void differentiate(std::size_t i, std::size_t within, const real* g,
                     const SelectiveGradients& to) {
    const std::size_t t = token(i), at = t * in_.D + first_;
    const std::size_t own = (block_ * in_.B * in_.T + t) * in_.N;
    multiply_states(count_, in_.x + at, in_.step + at, input_);
    std::fill_n(input_slope_, count_, real(0));
    std::fill_n(step_slope_, count_, real(0));
    for (std::size_t n = 0; n < in_.N; ++n) {
      real *slope = h_ + n * selective_block, *rates = rates_ + n * selective_block;
      to.c[own + n] = dot_row(g + at, past_ + row(within + 1, n), count_);
      add_states(count_, in_.c[t * in_.N + n], g + at, slope);
      to.b[own + n] = dot_row(slope, input_, count_);
      add_states(count_, in_.b[t * in_.N + n], slope, input_slope_);
      pass(count_, decays_ + row(within, n), past_ + row(within, n), in_.step + at,
           in_.rate + n * in_.D + first_, slope, step_slope_, rates);
    }
    for (std::size_t e = 0; e < count_; ++e) {
      to.x[at + e] = input_slope_[e] * in_.step[at + e];
      to.step[at + e] = step_slope_[e] + input_slope_[e] * in_.x[at + e];
    }
  }
  /// Passes the slope of a state on to the token before, and adds those of the step and the rate.
  static void pass(std::size_t count, const real* __restrict decay, const real* __restrict past,
                   const real* __restrict step, const real* __restrict rate, real* __restrict slope,
                   real* __restrict steps, real* __restrict rates) {
    for (std::size_t e = 0; e < count; ++e) {
      slope[e] *= decay[e];
      const real exponent = slope[e] * past[e];
      steps[e] -= exponent * rate[e];
      rates[e] -= exponent * step[e];
    }
  }

  real *decays_, *past_;             // (tile, N, block), (tile + 1, N, block)
  real* rates_;                      // (N, block)
  real *input_slope_, *step_slope_;  // (block)
};

void require_selective(const Var& x, const Var& step, const Var& rate, const Var& b, const Var& c,
                       const ScanOptions& options) {
  require(x.rank() == 3 && step.shape() == x.shape() && rate.rank() == 2 && rate.dim(1) == x.dim(2),
          selective_name, "x and step must be (B, T, D) and rate (N, D): x ", x.shape(), ", step ",
          step.shape(), ", rate ", rate.shape());
  const Shape states{x.dim(0), x.dim(1), rate.dim(0)};
  require(b.shape() == states && c.shape() == states, selective_name,
          "b and c must be (B, T, N) = ", states, ": b ", b.shape(), ", c ", c.shape());
  options.check(selective_name, x.dim(0), x.dim(1));
}

SelectiveInputs selective_inputs(const Var& x, const Var& step, const Var& rate, const Var& b,
                                 const Var& c, const ScanOptions& options) {
  return {x.dim(0),    x.dim(1),    x.dim(2), rate.dim(0), x.data(),
          step.data(), rate.data(), b.data(), c.data(),    options};
}

/// Sums parts (blocks, ..) in order. -> shape
Tensor sum_of_blocks(const Tensor& parts, const Shape& shape) {
  Tensor sum = zeros(shape);
  for (std::size_t i = 0; i < parts.size(); ++i) sum.data()[i % sum.size()] += parts.data()[i];
  return sum;
}

}  // namespace

Var selective_scan(const Var& x, const Var& step, const Var& rate, const Var& b, const Var& c,
                   const ScanOptions& options) {
  require_selective(x, step, rate, b, c, options);
  const std::vector<Var> inputs{x, step, rate, b, c};
  const bool wanted = std::ranges::any_of(inputs, &Var::needs_gradient);
  const SelectiveInputs in = selective_inputs(x, step, rate, b, c, options);
  const bool all_tokens = options.lengths.empty();
  const auto states = std::make_shared<Tensor>();
  Tensor y = unwritten(x.shape(), all_tokens);
  if (wanted) *states = uninitialized({in.B, in.tiles(), in.N, in.D});
  if (y.size() > 0)
    each_part<SelectiveBlock>(in, in.B * in.blocks(), [&](SelectiveBlock& block) {
      block.run(wanted ? states->data() : nullptr, y.data());
    });
  return record(selective_name, std::move(y), inputs, [=](Tensor& g) {
    if (g.size() == 0) return;
    const SelectiveInputs in = selective_inputs(x, step, rate, b, c, options);
    Tensor dx = unwritten(x.shape(), all_tokens), dstep = unwritten(x.shape(), all_tokens);
    const Shape parts{in.blocks(), in.B, in.T, in.N};
    Tensor db = unwritten(parts, all_tokens), dc = unwritten(parts, all_tokens);
    std::vector<double> sums(in.B * in.N * in.D);
    const SelectiveGradients to{dx.data(), dstep.data(), db.data(), dc.data(), sums.data()};
    each_part<SelectiveBlockBack>(in, in.B * in.blocks(), [&](SelectiveBlockBack& block) {
      block.run(states->data(), g.data(), to);
    });
    x.add_gradient(std::move(dx));
    step.add_gradient(std::move(dstep));
    rate.add_gradient(sum_repeats(sums, rate.shape()));
    b.add_gradient(sum_of_blocks(db, b.shape()));
    c.add_gradient(sum_of_blocks(dc, c.shape()));
  });
}

Tensor selective_scan_step(Tensor& states, const Tensor& x, const Tensor& step, const Tensor& rate,
                           const Tensor& b, const Tensor& c) {
  require(states.dimension() == 3 && rate.dimension() == 2, selective_name,
          "states are (B, N, D) and rates (N, D): states ", states.shape(), ", rate ",
          rate.shape());
  const std::size_t B = states.shape()[0], N = states.shape()[1], D = states.shape()[2];
  require(x.shape() == Shape{B, D} && step.shape() == x.shape() && rate.shape() == Shape{N, D} &&
              b.shape() == Shape{B, N} && c.shape() == b.shape(),
          selective_name, "a token of states (B, N, D) ", states.shape(),
          " has x, step (B, D), rate (N, D) and b, c (B, N): x ", x.shape(), ", step ",
          step.shape(), ", rate ", rate.shape(), ", b ", b.shape(), ", c ", c.shape());
  Tensor y = zeros({B, D});
  std::vector<real> decay(D), input(D);
  for (std::size_t i = 0; i < B; ++i) {
    multiply_states(D, x.data() + i * D, step.data() + i * D, input.data());
    for (std::size_t n = 0; n < N; ++n) {
      real* h = states.data() + (i * N + n) * D;
      decay_states(D, rate.data() + n * D, step.data() + i * D, decay.data());
      update_states(D, decay.data(), h, b(i, n), input.data(), h);
      add_states(D, c(i, n), h, y.data() + i * D);
    }
  }
  return y;
}

}  // namespace bochner::inline BOCHNER_PRECISION

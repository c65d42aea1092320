#include <bochner/autodiff/compute/channel_lanes.hpp>
#include <bochner/autodiff/compute/exponential_kernels.hpp>
#include <bochner/autodiff/compute/phase.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Lags with tabulated powers of z, and lags per task.
constexpr std::size_t wave_run = 16, wave_block = 1024;

/// A complex double per lane, so that repeated products keep their digits.
struct DoubleLanes {
  double re[row_lanes], im[row_lanes];

  void multiply(const DoubleLanes& by) {
    for (std::size_t i = 0; i < row_lanes; ++i) {
      const double x = re[i] * by.re[i] - im[i] * by.im[i];
      im[i] = re[i] * by.im[i] + im[i] * by.re[i];
      re[i] = x;
    }
  }
  ComplexLanes rounded() const {
    ComplexLanes lanes;
    for (std::size_t i = 0; i < row_lanes; ++i)
      lanes.re[i] = real(re[i]), lanes.im[i] = real(im[i]);
    return lanes;
  }
};

/// Returns z^lag of wave n in a channel group.
DoubleLanes wave_power(const ExponentialKernels& waves, LaneGroup group, std::size_t n,
                       double lag) {
  DoubleLanes z{};
  for (std::size_t i = 0; i < group.count; ++i) {
    const std::size_t wave = (group.first + i) * waves.N + n;
    const double size = std::exp(-double(waves.rate[wave]) * lag);
    const double phase = reduced_phase(double(waves.frequency[wave]), lag);
    z.re[i] = size * std::cos(phase), z.im[i] = size * std::sin(phase);
  }
  return z;
}

/// Loads column n of x (C, N) for a channel group.
RowLanes of_channels(const real* x, std::size_t N, LaneGroup group, std::size_t n) {
  RowLanes lanes{};
  for (std::size_t i = 0; i < group.count; ++i) lanes[i] = x[(group.first + i) * N + n];
  return lanes;
}

/// Writes the powers of z of one run to `powers`, then calls body(first, z^first) for every run of
/// a block, `first` its first lag.
template <class Body>
void for_runs(const ExponentialKernels& waves, LaneGroup group, std::size_t n, std::size_t begin,
              std::size_t end, ComplexLanes* powers, const Body& body) {
  const DoubleLanes z = wave_power(waves, group, n, 1);
  DoubleLanes power = wave_power(waves, group, n, 0),
              start = wave_power(waves, group, n, double(begin));
  for (std::size_t r = 0; r < wave_run; ++r, power.multiply(z)) powers[r] = power.rounded();
  for (std::size_t lag = begin; lag < end; lag += wave_run, start.multiply(power))
    body(lag, start.rounded());
}

/// Calls body(group index, block index, group, first lag, end) for all groups and blocks.
template <class Body>
void for_wave_blocks(std::size_t C, std::size_t count, const Body& body) {
  const std::size_t groups = lane_groups(C), blocks = ceil_div(count, wave_block);
  parallel_tasks(groups * blocks, [&](std::size_t task) {
    const std::size_t block = task / groups, begin = block * wave_block;
    body(task % groups, block, lane_group(C, task % groups), begin,
         std::min(count, begin + wave_block));
  });
}

std::size_t row_of(std::size_t lag, std::size_t count, bool descending) {
  return descending ? count - 1 - lag : lag;
}

/// Sums over lags l of g_l z^l and l g_l z^l for one wave in a channel group.
struct LaneMoments {
  RowLanes re{}, im{}, lag_re{}, lag_im{};

  void add(const LaneMoments& other) {
    re += other.re, im += other.im;
    lag_re += other.lag_re, lag_im += other.lag_im;
  }
  LaneMoments times(const ComplexLanes& z) const {
    return {fused_lanes(re, z.re, -(im * z.im)), fused_lanes(re, z.im, im * z.re),
            fused_lanes(lag_re, z.re, -(lag_im * z.im)), fused_lanes(lag_re, z.im, lag_im * z.re)};
  }
  void store(LaneGroup group, std::size_t N, std::size_t n, const WaveMoments& to) const {
    for (std::size_t lane = 0; lane < group.count; ++lane) {
      const std::size_t wave = (group.first + lane) * N + n;
      to.re[wave] = re[lane], to.im[wave] = im[lane];
      to.lag_re[wave] = lag_re[lane], to.lag_im[wave] = lag_im[lane];
    }
  }
};

/// Returns the moments of the run that begins at `lag`, divided by z^lag.
inline LaneMoments run_moments(const RowLanes* g, const ComplexLanes* powers, std::size_t lag) {
  LaneMoments run;
  for (std::size_t r = 0; r < wave_run; ++r) {
    const RowLanes term = all_lanes(real(r)) * g[r];
    run.re = fused_lanes(g[r], powers[r].re, run.re);
    run.im = fused_lanes(g[r], powers[r].im, run.im);
    run.lag_re = fused_lanes(term, powers[r].re, run.lag_re);
    run.lag_im = fused_lanes(term, powers[r].im, run.lag_im);
  }
  const RowLanes first = all_lanes(real(lag));
  run.lag_re = fused_lanes(first, run.re, run.lag_re);
  run.lag_im = fused_lanes(first, run.im, run.lag_im);
  return run;
}

/// Computes the moments of the N waves of a group over the lags of a block.
void block_moments(const ExponentialKernels& waves, LaneGroup group, std::size_t begin,
                   std::size_t end, const RowLanes* gradient, LaneMoments* to) {
  ComplexLanes powers[wave_run];
  for (std::size_t n = 0; n < waves.N; ++n) {
    LaneMoments sum;
    for_runs(waves, group, n, begin, end, powers, [&](std::size_t lag, const ComplexLanes& z) {
      sum.add(run_moments(gradient + (lag - begin), powers, lag).times(z));
    });
    to[n] = sum;
  }
}

}  // namespace

void sum_exponential_kernels(const ExponentialKernels& waves, std::size_t count, bool descending,
                             real* y) {
  for_wave_blocks(
      waves.C, count,
      [&](std::size_t, std::size_t, LaneGroup group, std::size_t begin, std::size_t end) {
        RowLanes sums[wave_block] = {};
        ComplexLanes powers[wave_run];
        for (std::size_t n = 0; n < waves.N; ++n) {
          const RowLanes cosine = of_channels(waves.cosine, waves.N, group, n);
          const RowLanes sine = of_channels(waves.sine, waves.N, group, n);
          for_runs(waves, group, n, begin, end, powers,
                   [&](std::size_t lag, const ComplexLanes& z) {
                     const RowLanes re = fused_lanes(cosine, z.re, sine * z.im);
                     const RowLanes im = fused_lanes(sine, z.re, -(cosine * z.im));
                     RowLanes* to = sums + (lag - begin);
#pragma GCC unroll 4
                     for (std::size_t r = 0; r < wave_run; ++r)
                       to[r] = fused_lanes(im, powers[r].im, fused_lanes(re, powers[r].re, to[r]));
                   });
        }
        for (std::size_t lag = begin; lag < end; ++lag)
          store_lanes(sums[lag - begin], group.count,
                      y + row_of(lag, count, descending) * waves.C + group.first);
      });
}

void wave_moments(const ExponentialKernels& waves, std::size_t count, bool descending,
                  const real* g, const WaveMoments& to) {
  const std::size_t N = waves.N, C = waves.C, groups = lane_groups(C);
  const std::size_t blocks = ceil_div(count, wave_block);
  Storage partial(blocks * groups * N * sizeof(LaneMoments) / sizeof(real));
  auto* sums = reinterpret_cast<LaneMoments*>(partial.data());
  for_wave_blocks(
      C, count,
      [&](std::size_t index, std::size_t block, LaneGroup group, std::size_t begin,
          std::size_t end) {
        RowLanes gradient[wave_block] = {};
        for (std::size_t lag = begin; lag < end; ++lag)
          gradient[lag - begin] =
              load_lanes(g + row_of(lag, count, descending) * C + group.first, group.count);
        block_moments(waves, group, begin, end, gradient, sums + (block * groups + index) * N);
      });
  for (std::size_t i = 0; i < groups * N; ++i) {
    LaneMoments sum;
    for (std::size_t block = 0; block < blocks; ++block) sum.add(sums[block * groups * N + i]);
    sum.store(lane_group(C, i / N), N, i % N, to);
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION

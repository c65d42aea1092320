#include <bochner/autodiff/compute/fft.hpp>
#include <bochner/autodiff/compute/nufft.hpp>
#include <bochner/autodiff/compute/phase.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using GridLanes = std::vector<ComplexLanes, PoolAllocator<ComplexLanes>>;

/// Spreading of all waves along one axis.
struct SpreadAxis {
  RegularAxis nodes;
  SpreadingKernel kernel;
  std::vector<std::int64_t> begin;  ///< first fine node of each wave
  std::vector<real> values;         ///< (m, width)
  std::vector<real> factors;        ///< deconvolution factor of each node

  std::size_t fine_node(std::size_t f, std::size_t i, int sign) const {
    const auto fine = std::int64_t(kernel.fine());
    const std::int64_t node = sign * (begin[f] + std::int64_t(i)) % fine;
    return std::size_t(node < 0 ? node + fine : node);
  }
  /// Returns node i, counted from the middle, after a transform in the opposite direction.
  std::size_t node_after_transform(std::size_t i) const {
    return (kernel.fine() + nodes.count / 2 - i) % kernel.fine();
  }
};

SpreadAxis spread_axis(const RegularAxis& nodes, const Tensor& w, std::size_t column,
                       const SpreadingOptions& options) {
  SpreadAxis axis{
      nodes, SpreadingKernel(nodes.count, options.width, options.oversampling), {}, {}, {}};
  const std::size_t m = w.shape()[0], d = w.shape()[1], width = options.width;
  for (std::size_t f = 0; f < m; ++f) {
    const double phase = reduced_phase(double(w.data()[f * d + column]), nodes.step);
    const double middle = phase / (2 * std::numbers::pi) * double(axis.kernel.fine());
    const double begin = std::ceil(middle - double(width) / 2);
    axis.begin.push_back(std::int64_t(begin));
    for (std::size_t i = 0; i < width; ++i)
      axis.values.push_back(
          real(axis.kernel.value((begin + double(i) - middle) * 2 / double(width))));
  }
  for (std::size_t i = 0; i < nodes.count; ++i)
    axis.factors.push_back(real(axis.kernel.factor(double(i) - double(nodes.count / 2))));
  return axis;
}

/// Sums of waves, one column per lane, over half of their fine spectrum: the last axis holds only
/// the non-redundant bins, as far as a wave reaches.
class WaveSums {
 public:
  WaveSums(const std::vector<SpreadAxis>& axes, const Tensor& w) : axes_(axes), w_(w) {
    const SpreadAxis& last = axes.back();
    for (std::size_t f = 0; f < w.shape()[0]; ++f) {
      for (std::size_t i = 0; i < last.kernel.width(); ++i) {
        for (const int sign : {1, -1}) {
          const std::size_t bin = last.fine_node(f, i, sign);
          if (bin < bins()) reach_ = std::max(reach_, bin + 1);
        }
      }
    }
  }

  /// Computes `count` columns of y (nodes, C) from those of a (2m, C), from `first` on.
  void operator()(const Tensor& a, std::size_t first, std::size_t count, Tensor& y) const {
    GridLanes grid = spread(a, first, count);
    std::size_t outer = 1;
    for (std::size_t j = 0; j + 1 < axes_.size(); outer *= axes_[j++].nodes.count)
      grid = transformed(grid, outer, axes_[j]);
    finish(grid, outer, first, count, y);
  }

 private:
  std::size_t bins() const { return axes_.back().kernel.fine() / 2 + 1; }

  GridLanes spread(const Tensor& a, std::size_t first, std::size_t count) const {
    std::size_t size = reach_;
    for (std::size_t j = 0; j + 1 < axes_.size(); ++j) size *= axes_[j].kernel.fine();
    GridLanes grid(size);
    const std::size_t m = w_.shape()[0], C = a.shape()[1];
    for (std::size_t f = 0; f < m; ++f) {
      RowLanes sine{}, cosine{};
      for (std::size_t i = 0; i < count; ++i) {
        sine[i] = a.data()[f * C + first + i];
        cosine[i] = a.data()[(m + f) * C + first + i];
      }
      // The real part is half of c e^(i w x) plus half of its conjugate.
      const double middle = middle_phase(f);
      const RowLanes c = all_lanes(real(std::cos(middle) / 2)),
                     s = all_lanes(real(std::sin(middle) / 2));
      const RowLanes re = fused_lanes(c, cosine, s * sine),
                     im = fused_lanes(s, cosine, -(c * sine));
      add(f, 1, 0, 0, {re, im}, grid);
      add(f, -1, 0, 0, {re, -im}, grid);
    }
    return grid;
  }

  /// Returns the phase of wave f at the middle node of every axis.
  double middle_phase(std::size_t f) const {
    double phase = 0;
    for (std::size_t j = 0; j < axes_.size(); ++j) {
      const RegularAxis& nodes = axes_[j].nodes;
      phase += reduced_phase(double(w_.data()[f * axes_.size() + j]),
                             nodes.first + nodes.step * double(nodes.count / 2));
    }
    return phase;
  }

  /// Adds the copy of wave f at the frequency with this sign, from axis j on.
  void add(std::size_t f, int sign, std::size_t j, std::size_t place, const ComplexLanes& value,
           GridLanes& grid) const {
    const SpreadAxis& axis = axes_[j];
    const bool is_last = j + 1 == axes_.size();
    for (std::size_t i = 0; i < axis.kernel.width(); ++i) {
      const std::size_t node = axis.fine_node(f, i, sign);
      const RowLanes by = all_lanes(axis.values[f * axis.kernel.width() + i]);
      if (!is_last) {
        add(f, sign, j + 1, place * axis.kernel.fine() + node, {by * value.re, by * value.im},
            grid);
      } else if (node < bins()) {
        ComplexLanes& to = grid[place * reach_ + node];
        to = {fused_lanes(by, value.re, to.re), fused_lanes(by, value.im, to.im)};
      }
    }
  }

  /// Transforms one axis. (outer, fine, inner) -> (outer, nodes, inner)
  GridLanes transformed(const GridLanes& grid, std::size_t outer, const SpreadAxis& axis) const {
    const std::size_t fine = axis.kernel.fine(), count = axis.nodes.count;
    const std::size_t inner = grid.size() / (outer * fine);
    const Fft fft(fine);
    GridLanes result(outer * count * inner), column(fine), scratch(fft.scratch());
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t r = 0; r < inner; ++r) {
        fft.transform(grid.data() + o * fine * inner + r, inner, column.data(), scratch.data());
        for (std::size_t i = 0; i < count; ++i)
          result[(o * count + i) * inner + r] = column[axis.node_after_transform(i)];
      }
    }
    return result;
  }

  /// Transforms the last axis from bins to nodes and applies the factors of all axes.
  void finish(const GridLanes& grid, std::size_t outer, std::size_t first, std::size_t count,
              Tensor& y) const {
    const SpreadAxis& last = axes_.back();
    const std::size_t fine = last.kernel.fine(), N = last.nodes.count, C = y.shape()[1];
    const auto fft = RealFft::of(fine);
    GridLanes spectrum(bins()), scratch(fft->scratch()), pairs(fine / 2);
    RowLanes* row = &pairs.data()->re;
    for (std::size_t o = 0; o < outer; ++o) {
      std::copy_n(grid.data() + o * reach_, reach_, spectrum.data());
      fft->backward(spectrum.data(), row, scratch.data());
      const double factor = outer_factor(o);
      for (std::size_t i = 0; i < N; ++i) {
        const RowLanes value =
            row[(fine + i - N / 2) % fine] * all_lanes(real(factor * last.factors[i]));
        real* to = y.data() + (o * N + i) * C + first;
        if (count == row_lanes) {
          *reinterpret_cast<RowLanes*>(to) = value;
        } else {
          for (std::size_t lane = 0; lane < count; ++lane) to[lane] = value[lane];
        }
      }
    }
  }

  double outer_factor(std::size_t node) const {
    double factor = 1;
    for (std::size_t j = axes_.size() - 1; j-- > 0; node /= axes_[j].nodes.count)
      factor *= axes_[j].factors[node % axes_[j].nodes.count];
    return factor;
  }

  const std::vector<SpreadAxis>& axes_;
  const Tensor& w_;
  std::size_t reach_ = 0;
};

}  // namespace

RegularAxis regular_axis(const std::vector<double>& coordinates) {
  constexpr double rounding = 1e-12;
  const std::size_t count = coordinates.size();
  if (count == 0) return {0, 1, 0};
  const double first = coordinates.front(), extent = coordinates.back() - first;
  const RegularAxis axis{first, count > 1 ? extent / double(count - 1) : 1, count};
  for (std::size_t i = 0; i < count; ++i) {
    const double apart = std::abs(coordinates[i] - (first + axis.step * double(i)));
    require(apart <= rounding * std::max(std::abs(first), std::abs(extent)), "regular_axis",
            "node ", i, " of an axis, at ", coordinates[i], ", is not on a regular grid");
  }
  return axis;
}

Tensor nufft(const std::vector<RegularAxis>& axes, const Tensor& w, const Tensor& a,
             const SpreadingOptions& options) {
  const bool fits = w.dimension() == 2 && w.shape()[1] == axes.size() && a.dimension() == 2 &&
                    a.shape()[0] == 2 * w.shape()[0] && !axes.empty();
  require(fits, "nufft", "w and a must be (m, d) and (2m, C) on a grid of d = ", axes.size(),
          " axes: w ", w.shape(), ", a ", a.shape());
  std::size_t nodes = 1, C = a.shape()[1];
  for (const RegularAxis& axis : axes) nodes *= axis.count;
  Tensor y = uninitialized({nodes, C});
  if (nodes == 0) return y;
  std::vector<SpreadAxis> spread;
  for (std::size_t j = 0; j < axes.size(); ++j)
    spread.push_back(spread_axis(axes[j], w, j, options));
  const WaveSums sums(spread, w);
  parallel_tasks(ceil_div(C, row_lanes), [&](std::size_t task) {
    sums(a, task * row_lanes, std::min(row_lanes, C - task * row_lanes), y);
  });
  return y;
}

}  // namespace bochner::inline BOCHNER_PRECISION

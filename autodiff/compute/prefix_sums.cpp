#include <bochner/autodiff/compute/convolution.hpp>
#include <bochner/autodiff/compute/prefix_sums.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// A double per lane: differences of long sums need the digits.
struct SumLanes {
  double lane[row_lanes] = {};

  void add(const SumLanes& x) {
    for (std::size_t i = 0; i < row_lanes; ++i) lane[i] += x.lane[i];
  }
  void add_product(const SumLanes& x, const SumLanes& y) {
    for (std::size_t i = 0; i < row_lanes; ++i) lane[i] += x.lane[i] * y.lane[i];
  }
  RowLanes rounded() const {
    RowLanes lanes;
    for (std::size_t i = 0; i < row_lanes; ++i) lanes[i] = real(lane[i]);
    return lanes;
  }
};

SumLanes wide(RowLanes x) {
  SumLanes lanes;
  for (std::size_t i = 0; i < row_lanes; ++i) lanes.lane[i] = x[i];
  return lanes;
}

/// Returns the jump of a piecewise constant kernel at edge e. k (S, D)
double step_at(const real* k, std::size_t S, std::size_t D, std::size_t e, std::size_t channel) {
  return (e < S ? double(k[e * D + channel]) : 0) - (e > 0 ? double(k[(e - 1) * D + channel]) : 0);
}

/// Computes sums_i = x_0 + .. + x_(i-1). (T) -> (T + 1)
void add_up(const RowLanes* x, std::size_t T, SumLanes* sums) {
  sums[0] = {};
  for (std::size_t t = 0; t < T; ++t) {
    sums[t + 1] = wide(x[t]);
    sums[t + 1].add(sums[t]);
  }
}

/// Returns how many existing tokens are at least `edge` before the end of token t.
std::size_t tokens_before(std::size_t t, std::int64_t edge, std::size_t T) {
  return std::size_t(std::clamp<std::int64_t>(std::int64_t(t) + 1 - edge, 0, std::int64_t(T)));
}

struct PrefixMemory {
  const Scratch<double> sums;
  const Scratch<real> tokens;
  explicit PrefixMemory(std::size_t T) : sums((T + 1) * row_lanes), tokens(T * row_lanes) {}
  RowLanes* lanes() const { return reinterpret_cast<RowLanes*>(tokens.local()); }
  /// Returns the prefix sums of a channel group of sequence b.
  const SumLanes* of(const ChannelSequences& sequences, const real* x, std::size_t b,
                     LaneGroup group) const {
    SumLanes* to = reinterpret_cast<SumLanes*>(sums.local());
    sequences.load(x, b, group, lanes());
    add_up(lanes(), sequences.T, to);
    return to;
  }
};

}  // namespace

void convolve_pieces(const ChannelSequences& sequences, const LagEdges& edges, const real* x,
                     const real* k, real beta, real* y) {
  const std::size_t T = sequences.T, D = sequences.D, groups = lane_groups(D);
  const std::size_t S = edges.size() - 1;
  const PrefixMemory memory(T);
  parallel_each(groups * sequences.B, 1 + 16384 / (T * S + 1), [&](std::size_t task) {
    const std::size_t b = task / groups;
    const LaneGroup group = lane_group(D, task % groups);
    const SumLanes* sums = memory.of(sequences, x, b, group);
    std::vector<SumLanes> steps(S + 1);
    for (std::size_t e = 0; e <= S; ++e)
      for (std::size_t i = 0; i < group.count; ++i)
        steps[e].lane[i] = step_at(k, S, D, e, group.first + i);
    RowLanes* to = memory.lanes();
    for (std::size_t t = 0; t < sequences.length(b); ++t) {
      SumLanes sum;
      for (std::size_t e = 0; e <= S; ++e)
        sum.add_product(steps[e], sums[tokens_before(t, edges[e], T)]);
      to[t] = sum.rounded();
    }
    sequences.store(to, b, group, beta, y);
  });
}

void accumulate_pieces(const ChannelSequences& sequences, const LagEdges& edges, const real* x,
                       const real* g, real* dk) {
  const std::size_t T = sequences.T, D = sequences.D, groups = lane_groups(D);
  const std::size_t S = edges.size() - 1;
  const SequenceBlocks blocks(sequences.B, D);
  std::vector<SumLanes> at_edges(groups * blocks.count * (S + 1));
  const PrefixMemory memory(T);
  parallel_tasks(groups * blocks.count, [&](std::size_t task) {
    const LaneGroup group = lane_group(D, task / blocks.count);
    SumLanes* to = at_edges.data() + task * (S + 1);
    blocks.for_each(task % blocks.count, [&](std::size_t b) {
      const SumLanes* sums = memory.of(sequences, x, b, group);
      RowLanes* gradient = memory.lanes();
      sequences.load(g, b, group, gradient);
      for (std::size_t t = 0; t < sequences.length(b); ++t) {
        const SumLanes weight = wide(gradient[t]);
        for (std::size_t e = 0; e <= S; ++e)
          to[e].add_product(weight, sums[tokens_before(t, edges[e], T)]);
      }
    });
  });
  for (std::size_t i = 0; i < S * D; ++i) {
    const std::size_t s = i / D, group = i % D / row_lanes, lane = i % D % row_lanes;
    double sum = 0;
    for (std::size_t block = 0; block < blocks.count; ++block) {
      const SumLanes* from = at_edges.data() + (group * blocks.count + block) * (S + 1) + s;
      sum += from[0].lane[lane] - from[1].lane[lane];
    }
    dk[i] += real(sum);
  }
}

PrefixStream::PrefixStream(LagEdges edges, std::size_t D, const real* k)
    : edges_(std::move(edges)), D_(D) {
  require(edges_.size() >= 2 && edges_.front() >= 0 && std::is_sorted(edges_.begin(), edges_.end()),
          "prefix_stream", "a piece is between two ascending edges from 0 on");
  const std::size_t S = edges_.size() - 1;
  size_ = std::size_t(edges_.back()) + 1;
  for (std::size_t e = 0; e <= S; ++e)
    for (std::size_t c = 0; c < D; ++c) steps_.push_back(step_at(k, S, D, e, c));
  sums_.resize(size_ * D);
}

void PrefixStream::next(const real* x, real* y) {
  const double* before = sums_.data() + seen_ % size_ * D_;
  double* now = sums_.data() + (seen_ + 1) % size_ * D_;
  for (std::size_t c = 0; c < D_; ++c) now[c] = before[c] + double(x[c]);
  for (std::size_t c = 0; c < D_; ++c) {
    double sum = 0;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const std::size_t tokens = tokens_before(seen_, edges_[e], seen_ + 1);
      sum += steps_[e * D_ + c] * (tokens > 0 ? sums_[tokens % size_ * D_ + c] : 0);
    }
    y[c] = real(sum);
  }
  ++seen_;
}

}  // namespace bochner::inline BOCHNER_PRECISION

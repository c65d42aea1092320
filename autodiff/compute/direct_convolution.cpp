#include <bochner/autodiff/compute/convolution.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Outputs that share loads of the kernel.
constexpr std::size_t window_tile = 8;
/// Terms per partial sum over tokens.
constexpr std::size_t terms_of_partial_sum = 512;
/// Tokens in scratch memory at a time: whole partial sums and whole tiles.
constexpr std::size_t tokens_of_piece = 8 * terms_of_partial_sum;
constexpr std::size_t direct_grain = 16384;

/// Vectors padded with zeros on both sides, so that every window exists.
struct PaddedLanes {
  const RowLanes* data;
  std::size_t zeros, count;  ///< zeros before the vectors, and number of vectors
};

/// Adds sum over begin <= i < end of w_i x_(i + j) to y_j for `tile` neighbours j.
template <std::size_t tile>
inline void add_window_tile(const RowLanes* w, std::size_t begin, std::size_t end,
                            const RowLanes* x, RowLanes* y) {
  RowLanes sums[tile] = {};
  for (std::size_t i = begin; i < end; ++i) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < tile; ++j) sums[j] = fused_lanes(w[i], x[i + j], sums[j]);
  }
#pragma GCC unroll 8
  for (std::size_t j = 0; j < tile; ++j) y[j] += sums[j];
}

/// Adds sum over begin <= i < end of w_i x_(i + j) to y_j for j < count, except all-zero tiles.
void add_windows(const RowLanes* w, std::size_t begin, std::size_t end, const PaddedLanes& x,
                 std::size_t count, RowLanes* y) {
  const std::size_t behind = x.zeros + x.count;
  const auto first = [&](std::size_t last_j) {
    return std::max(begin, x.zeros > last_j ? x.zeros - last_j : 0);
  };
  const auto last = [&](std::size_t j) { return std::min(end, behind > j ? behind - j : 0); };
  std::size_t j = 0;
  for (; j + window_tile <= count; j += window_tile)
    add_window_tile<window_tile>(w, first(j + window_tile - 1), last(j), x.data + j, y + j);
  for (; j < count; ++j) add_window_tile<1>(w, first(j), last(j), x.data + j, y + j);
}

/// Loads a channel group of the kernel in window order: last lag first, unless mirrored.
void load_kernel(const real* kernel, std::size_t D, const KernelRows& rows, LaneGroup group,
                 bool mirrored, RowLanes* to) {
  for (std::size_t i = 0; i < rows.count; ++i)
    to[mirrored ? i : rows.count - 1 - i] = load_lanes(kernel + i * D + group.first, group.count);
}

struct Piece {
  std::size_t first, count;
};
template <class Body>
void for_pieces(std::size_t T, const Body& body) {
  for (std::size_t first = 0; first < T; first += tokens_of_piece)
    body(Piece{first, std::min(tokens_of_piece, T - first)});
}

/// Loads the tokens that the windows of a piece see, including `before` and `after` it. Sums have
/// the same terms in the same order as over the whole sequence.
PaddedLanes load_padded(const ChannelSequences& sequences, const real* x, std::size_t b,
                        LaneGroup group, const Piece& piece, std::size_t before, std::size_t after,
                        RowLanes* to) {
  const std::size_t zeros = before - std::min(before, piece.first);
  const std::size_t first = piece.first + zeros - before;
  const std::size_t wanted = before + piece.count + after - zeros;
  const std::size_t count = std::min(wanted, sequences.T - first);
  clear_lanes(to, zeros);
  sequences.load(x, b, group, first, count, to + zeros);
  clear_lanes(to + zeros + count, wanted - count);
  return {to, zeros, sequences.tokens_from(first, count, b)};
}

/// Adds the blocks' sums to dk in order; the last row is i = 0. sums (groups, blocks, K)
void join_blocks(const RowLanes* sums, std::size_t blocks, std::size_t K, std::size_t D,
                 real* dkernel) {
  parallel_each(lane_groups(D), 1 + direct_grain / (K * blocks + 1), [&](std::size_t index) {
    const LaneGroup group = lane_group(D, index);
    const RowLanes* of_group = sums + index * blocks * K;
    for (std::size_t i = 0; i < K; ++i) {
      real* to = dkernel + i * D + group.first;
      RowLanes sum = load_lanes(to, group.count);
      for (std::size_t block = 0; block < blocks; ++block) sum += of_group[block * K + K - 1 - i];
      store_lanes(sum, group.count, to);
    }
  });
}

}  // namespace

/// Decides by the mean number of terms per output; measured by bench/convolution_bench.
bool is_short_convolution(std::size_t T, const KernelRows& rows) {
  const std::size_t past = rows.past(), future = rows.future;  // both clamped below T
  const std::size_t outside = (past * (past + 1) + future * (future + 1)) / (2 * T);
  return rows.count - outside <= 64;
}

void convolve_directly(const ChannelSequences& sequences, const KernelRows& rows, const real* x,
                       const real* kernel, bool mirrored, real beta, real* y) {
  const std::size_t T = sequences.T, K = rows.count, groups = lane_groups(sequences.D);
  const std::size_t before = mirrored ? rows.future : rows.past(), after = K - 1 - before;
  const std::size_t size = std::min(T, tokens_of_piece);
  const Scratch<real> memory((K + size + K - 1 + size) * row_lanes);
  parallel_each(groups * sequences.B, 1 + direct_grain / (T * K + 1), [&](std::size_t task) {
    RowLanes* weights = reinterpret_cast<RowLanes*>(memory.local());
    RowLanes *padded = weights + K, *sums = padded + size + K - 1;
    const std::size_t b = task / groups;
    const LaneGroup group = lane_group(sequences.D, task % groups);
    load_kernel(kernel, sequences.D, rows, group, mirrored, weights);
    for_pieces(T, [&](const Piece& piece) {
      const PaddedLanes tokens = load_padded(sequences, x, b, group, piece, before, after, padded);
      clear_lanes(sums, piece.count);
      add_windows(weights, 0, K, tokens, sequences.tokens_from(piece.first, piece.count, b), sums);
      sequences.store(sums, b, group, piece.first, piece.count, beta, y);
    });
  });
}

void accumulate_kernel_directly(const ChannelSequences& sequences, const KernelRows& rows,
                                const real* x, const real* g, real* dkernel) {
  const std::size_t T = sequences.T, K = rows.count, D = sequences.D, groups = lane_groups(D);
  const SequenceBlocks blocks(sequences.B, D);
  Storage partial(groups * blocks.count * K * row_lanes);
  RowLanes* all_sums = reinterpret_cast<RowLanes*>(partial.data());
  const std::size_t size = std::min(T, tokens_of_piece);
  const Scratch<real> memory((size + K - 1 + size) * row_lanes);
  parallel_tasks(groups * blocks.count, [&](std::size_t task) {
    RowLanes* padded = reinterpret_cast<RowLanes*>(memory.local());
    RowLanes* gradient = padded + size + K - 1;
    RowLanes* sums = all_sums + task * K;
    const LaneGroup group = lane_group(D, task / blocks.count);
    clear_lanes(sums, K);
    blocks.for_each(task % blocks.count, [&](std::size_t b) {
      for_pieces(sequences.length(b), [&](const Piece& piece) {
        const PaddedLanes tokens =
            load_padded(sequences, x, b, group, piece, rows.past(), rows.future, padded);
        sequences.load(g, b, group, piece.first, piece.count, gradient);
        for (std::size_t t = 0; t < piece.count; t += terms_of_partial_sum)
          add_windows(gradient, t, std::min(piece.count, t + terms_of_partial_sum), tokens, K,
                      sums);
      });
    });
  });
  join_blocks(all_sums, blocks.count, K, D, dkernel);
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bit>
#include <bochner/autodiff/compute/channel_lanes.hpp>
#include <bochner/autodiff/compute/convolution_stream.hpp>
#include <bochner/autodiff/compute/fft.hpp>
#include <bochner/autodiff/compute/spectrum_products.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t direct_block = 16;
constexpr std::size_t first_size = 64;

RowLanes* vectors_of(Storage& storage, std::size_t index) {
  return reinterpret_cast<RowLanes*>(storage.data()) + index;
}

}  // namespace

ConvolutionStream::ConvolutionStream(std::size_t D, std::size_t limit, Kernel kernel,
                                     std::size_t sequences)
    : D_(D),
      groups_(lane_groups(D)),
      rows_(sequences * groups_),
      limit_(limit),
      most_(limit > std::size_t(1) << 62 ? std::size_t(1) << 62 : std::bit_ceil(limit)),
      make_kernel_(std::move(kernel)) {
  require(limit >= 1, "convolution_stream", "a kernel has at least one lag");
}

/// Grows the capacity to `size` tokens; the tokens seen so far stay in place.
void ConvolutionStream::grow(std::size_t size) {
  const std::size_t before = size_, wanted = std::min(limit_, 2 * size);
  const Tensor rows = make_kernel_(wanted);
  require(rows.dimension() == 2 && rows.shape()[0] <= wanted && rows.shape()[1] == D_,
          "convolution_stream", "the kernel must be at most (", wanted, ", ", D_, ") and is ",
          rows.shape());
  Storage inputs(rows_ * size * row_lanes, real(0)), outputs(rows_ * size * row_lanes, real(0));
  for (std::size_t row = 0; row < rows_; ++row)
    copy_lanes(vectors_of(inputs_, row * size_), before, vectors_of(inputs, row * size));
  inputs_ = std::move(inputs), outputs_ = std::move(outputs);
  size_ = size;
  kernel_ = Storage(groups_ * 2 * size * row_lanes, real(0));
  for (std::size_t index = 0; index < groups_; ++index) {
    const LaneGroup group = lane_group(D_, index);
    for (std::size_t lag = 0; lag < rows.shape()[0]; ++lag)
      vectors_of(kernel_, index * 2 * size_)[lag] =
          load_lanes(rows.data() + lag * D_ + group.first, group.count);
  }
}

void ConvolutionStream::next(const real* x, real* y) {
  if (size_ == 0) grow(std::min(first_size, most_));
  const std::size_t place = seen_ % size_;
  for (std::size_t row = 0; row < rows_; ++row) {
    const LaneGroup group = lane_group(D_, row % groups_);
    const std::size_t channel = row / groups_ * D_ + group.first;
    const RowLanes token = load_lanes(x + channel, group.count);
    vectors_of(inputs_, row * size_)[place] = token;
    store_lanes(fused_lanes(vectors_of(kernel_, row % groups_ * 2 * size_)[0], token,
                            vectors_of(outputs_, row * size_)[place]),
                group.count, y + channel);
    vectors_of(outputs_, row * size_)[place] = RowLanes{};
  }
  ++seen_;
  if (seen_ == size_ && size_ < most_) grow(2 * size_);
  add_block(std::min(seen_ & (~seen_ + 1), most_));
}

/// Adds the last `block` tokens to the next `block` outputs.
void ConvolutionStream::add_block(std::size_t block) {
  if (block > direct_block) return add_spectrally(block);
  const std::size_t first = (seen_ - block) % size_, next = seen_ % size_;
  for (std::size_t row = 0; row < rows_; ++row) {
    const RowLanes *x = vectors_of(inputs_, row * size_) + first,
                   *k = vectors_of(kernel_, row % groups_ * 2 * size_);
    RowLanes* y = vectors_of(outputs_, row * size_) + next;
    for (std::size_t i = 0; i < block; ++i)
      for (std::size_t j = 0; j < block; ++j) y[i] = fused_lanes(k[block + i - j], x[j], y[i]);
  }
}

void ConvolutionStream::add_spectrally(std::size_t block) {
  const std::size_t first = (seen_ - block) % size_, next = seen_ % size_;
  const auto fft = RealFft::of(2 * block);
  const Storage& spectra = kernel_spectra(block);
  Storage memory((2 * block + 2 * (fft->bins() + fft->scratch())) * row_lanes);
  RowLanes* tokens = vectors_of(memory, 0);
  ComplexLanes* bins = reinterpret_cast<ComplexLanes*>(tokens + 2 * block);
  for (std::size_t row = 0; row < rows_; ++row) {
    copy_lanes(vectors_of(inputs_, row * size_) + first, block, tokens);
    clear_lanes(tokens + block, block);
    fft->forward(tokens, bins, bins + fft->bins());
    multiply_spectra(bins, spectra_at(spectra, row % groups_, fft->bins()), fft->bins(), bins);
    fft->backward(bins, tokens, bins + fft->bins());
    RowLanes* y = vectors_of(outputs_, row * size_) + next;
    for (std::size_t i = 0; i < block; ++i) y[i] += tokens[block + i];
  }
}

const Storage& ConvolutionStream::kernel_spectra(std::size_t block) {
  const std::size_t power = std::size_t(std::countr_zero(block));
  if (spectra_.size() <= power) spectra_.resize(power + 1);
  Storage& spectra = spectra_[power];
  if (!spectra.empty()) return spectra;
  const auto fft = RealFft::of(2 * block);
  spectra = Storage(groups_ * fft->bins() * 2 * row_lanes);
  Storage memory((2 * block + 2 * fft->scratch()) * row_lanes);
  RowLanes* rows = vectors_of(memory, 0);
  for (std::size_t group = 0; group < groups_; ++group) {
    const RowLanes part = all_lanes(1 / real(2 * block));
    for (std::size_t lag = 0; lag < 2 * block; ++lag)
      rows[lag] = part * vectors_of(kernel_, group * 2 * size_)[lag];
    fft->forward(rows, spectra_at(spectra, group, fft->bins()),
                 reinterpret_cast<ComplexLanes*>(rows + 2 * block));
  }
  return spectra;
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/compute/convolution.hpp>
#include <bochner/autodiff/compute/fft.hpp>
#include <bochner/autodiff/compute/spectrum_products.hpp>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t spectral_grain = 4096;

}  // namespace

/// Task index: a sequence and its spectrum, in one channel group.
struct SpectralConvolution::Place {
  std::size_t task;
  const RealFft& fft;
  RowLanes* tokens;
  ComplexLanes *bins, *scratch;
  void transform(ComplexLanes* to) const { fft.forward(tokens, to, scratch); }
  void transform_back(const ComplexLanes* from) const { fft.backward(from, tokens, scratch); }
};

// Enough zeros that lags wrapping around reach no other token or lag.
SpectralConvolution::SpectralConvolution(const ChannelSequences& sequences, const KernelRows& rows)
    : sequences_(sequences),
      rows_(rows),
      n_(fast_fft_size(sequences.T + std::max(rows.past(), rows.future))),
      bins_(n_ / 2 + 1),
      groups_(lane_groups(sequences.D)) {}

template <class Body>
void SpectralConvolution::for_places(std::size_t tasks, std::size_t grain, const Body& body) const {
  const auto fft = RealFft::of(n_);
  const Scratch<real> memory((n_ + 2 * (bins_ + fft->scratch())) * row_lanes);
  parallel_each(tasks, grain, [&](std::size_t task) {
    RowLanes* tokens = reinterpret_cast<RowLanes*>(memory.local());
    ComplexLanes* bins = reinterpret_cast<ComplexLanes*>(tokens + n_);
    body(Place{task, *fft, tokens, bins, bins + bins_});
  });
}

Storage SpectralConvolution::kernel_spectra(const real* kernel) const {
  Storage spectra(groups_ * bins_ * 2 * row_lanes);
  const RowLanes part = all_lanes(1 / real(n_));
  for_places(groups_, 1 + spectral_grain / n_, [&](const Place& place) {
    const LaneGroup group = lane_group(sequences_.D, place.task);
    clear_lanes(place.tokens, n_);
    for (std::size_t i = 0; i < rows_.count; ++i)
      place.tokens[i < rows_.future ? n_ + i - rows_.future : i - rows_.future] =
          part * load_lanes(kernel + i * sequences_.D + group.first, group.count);
    place.transform(spectra_at(spectra, place.task, bins_));
  });
  return spectra;
}

void SpectralConvolution::forward(const real* x, const Storage& kernel, real* y,
                                  Storage* spectra_of_x) const {
  const std::size_t T = sequences_.T, B = sequences_.B;
  if (spectra_of_x) spectra_of_x->resize(groups_ * B * bins_ * 2 * row_lanes);
  for_places(groups_ * B, 1 + spectral_grain / n_, [&](const Place& place) {
    const std::size_t index = place.task / B, b = place.task % B;
    const LaneGroup group = lane_group(sequences_.D, index);
    sequences_.load(x, b, group, place.tokens);
    clear_lanes(place.tokens + T, n_ - T);
    ComplexLanes* of_x = spectra_of_x ? spectra_at(*spectra_of_x, place.task, bins_) : place.bins;
    place.transform(of_x);
    const ComplexLanes* of_kernel = spectra_at(kernel, index, bins_);
    multiply_spectra(of_x, of_kernel, bins_, place.bins);
    place.transform_back(place.bins);
    sequences_.store(place.tokens, b, group, 0, y);
  });
}

void SpectralConvolution::backward(const real* g, const Storage* kernel,
                                   const Storage* spectra_of_x, real beta, real* dx,
                                   real* dkernel) const {
  const std::size_t T = sequences_.T, B = sequences_.B;
  const SequenceBlocks blocks(B, sequences_.D);
  Storage sums(dkernel ? groups_ * blocks.count * bins_ * 2 * row_lanes : 0);
  for_places(groups_ * blocks.count, 1, [&](const Place& place) {
    const std::size_t index = place.task / blocks.count;
    const LaneGroup group = lane_group(sequences_.D, index);
    ComplexLanes* sum = dkernel ? spectra_at(sums, place.task, bins_) : nullptr;
    if (sum) std::fill_n(sum, bins_, ComplexLanes{RowLanes{}, RowLanes{}});
    blocks.for_each(place.task % blocks.count, [&](std::size_t b) {
      sequences_.load(g, b, group, place.tokens);
      clear_lanes(place.tokens + T, n_ - T);
      place.transform(place.bins);
      if (sum) {
        const ComplexLanes* of_x = spectra_at(*spectra_of_x, index * B + b, bins_);
        for (std::size_t k = 0; k < bins_; ++k) {
          const ComplexLanes term = product_with_conjugate(place.bins[k], of_x[k]);
          sum[k] = {sum[k].re + term.re, sum[k].im + term.im};
        }
      }
      if (!dx) return;
      const ComplexLanes* of_kernel = spectra_at(*kernel, index, bins_);
      for (std::size_t k = 0; k < bins_; ++k)
        place.bins[k] = product_with_conjugate(place.bins[k], of_kernel[k]);
      place.transform_back(place.bins);
      sequences_.store(place.tokens, b, group, beta, dx);
    });
  });
  if (dkernel) write_kernel_gradient(sums, blocks.count, dkernel);
}

void SpectralConvolution::write_kernel_gradient(const Storage& sums, std::size_t blocks,
                                                real* dkernel) const {
  const RowLanes part = all_lanes(1 / real(n_));
  for_places(groups_, 1 + spectral_grain / n_, [&](const Place& place) {
    const LaneGroup group = lane_group(sequences_.D, place.task);
    std::copy_n(spectra_at(sums, place.task * blocks, bins_), bins_, place.bins);
    for (std::size_t block = 1; block < blocks; ++block) {
      const ComplexLanes* sum = spectra_at(sums, place.task * blocks + block, bins_);
      for (std::size_t k = 0; k < bins_; ++k)
        place.bins[k] = {place.bins[k].re + sum[k].re, place.bins[k].im + sum[k].im};
    }
    place.transform_back(place.bins);
    for (std::size_t i = 0; i < rows_.count; ++i) {
      const std::size_t lag = i < rows_.future ? n_ + i - rows_.future : i - rows_.future;
      real* to = dkernel + i * sequences_.D + group.first;
      store_lanes(fused_lanes(part, place.tokens[lag], load_lanes(to, group.count)), group.count,
                  to);
    }
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION

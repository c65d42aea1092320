#include <bochner/autodiff/compute/convolution.hpp>
#include <bochner/autodiff/ops/recurrence/long_convolution.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Sizes of one call, and the kernel rows that reach one of T tokens.
struct ConvolutionSizes {
  std::size_t B, T, D, all_rows;
  KernelRows rows;      ///< rows that reach a token
  std::size_t skipped;  ///< rows before them
  std::vector<std::size_t> lengths;

  ConvolutionSizes(const Var& x, const Var& kernel, const LongConvolutionOptions& options)
      : B(x.dim(0)), T(x.dim(1)), D(x.dim(2)), all_rows(kernel.dim(0)), lengths(options.lengths) {
    const std::size_t reach = T > 0 ? T - 1 : 0;
    const std::size_t future = std::min(options.future, reach);
    const std::size_t past = std::min(all_rows - options.future, reach + 1);  // including lag 0
    rows = {future + past, future};
    skipped = options.future - future;
  }
  bool empty() const { return B == 0 || T == 0 || D == 0 || rows.count == 0; }
  ChannelSequences sequences() const { return {B, T, D, lengths}; }
};

/// Spectra for the backward pass; each only if a gradient needs it.
struct SavedSpectra {
  Storage x, kernel;
};

Var direct_convolution(const Var& x, const Var& kernel, const ConvolutionSizes& sizes) {
  Tensor y = uninitialized(x.shape());
  const std::size_t first = sizes.skipped * sizes.D;
  convolve_directly(sizes.sequences(), sizes.rows, x.data(), kernel.data() + first, false, 0,
                    y.data());
  return record("long_convolution", std::move(y), {x, kernel}, [=](Tensor& g) {
    if (kernel.needs_gradient())
      accumulate_kernel_directly(sizes.sequences(), sizes.rows, x.data(), g.data(),
                                 kernel.gradient_buffer().data() + first);
    if (!x.needs_gradient()) return;
    const GradientTarget target(x);
    convolve_directly(sizes.sequences(), sizes.rows, g.data(), kernel.data() + first, true,
                      target.beta, target.data);
  });
}

/// Takes two transforms per sequence forward and two backward; stores spectra, not inputs.
Var spectral_convolution(const Var& x, const Var& kernel, const ConvolutionSizes& sizes) {
  Tensor y = uninitialized(x.shape());
  const std::size_t first = sizes.skipped * sizes.D;
  const auto saved = std::make_shared<SavedSpectra>();
  const ChannelSequences sequences = sizes.sequences();
  const SpectralConvolution convolution(sequences, sizes.rows);
  saved->kernel = convolution.kernel_spectra(kernel.data() + first);
  convolution.forward(x.data(), saved->kernel, y.data(),
                      kernel.needs_gradient() ? &saved->x : nullptr);
  if (!x.needs_gradient()) saved->kernel = {};
  return record(
      "long_convolution", std::move(y), {x, kernel},
      [x = x.gradient_only(), kernel = kernel.gradient_only(), saved, sizes, first](Tensor& g) {
        real* dkernel = kernel.needs_gradient() ? kernel.gradient_buffer().data() + first : nullptr;
        const GradientTarget dx(x);
        const ChannelSequences sequences = sizes.sequences();
        SpectralConvolution(sequences, sizes.rows)
            .backward(g.data(), &saved->kernel, &saved->x, dx.beta, dx.data, dkernel);
      });
}

}  // namespace

Var long_convolution(const Var& x, const Var& kernel, const LongConvolutionOptions& options) {
  require(x.rank() == 3 && kernel.rank() == 2 && kernel.dim(1) == x.dim(2), "long_convolution",
          "kernel must be (L, D) for x (B, T, D): x ", x.shape(), ", kernel ", kernel.shape());
  require(options.future < kernel.dim(0), "long_convolution", "future = ", options.future,
          " must be below the kernel's ", kernel.dim(0), " rows: lag 0 is one of them");
  require_lengths("long_convolution", options.lengths, x.shape(), "x");
  const ConvolutionSizes sizes(x, kernel, options);
  if (sizes.empty())
    return record("long_convolution", zeros(x.shape()), {x, kernel}, [](Tensor&) {});
  const bool direct = options.method == ConvolutionMethod::fastest
                          ? is_short_convolution(sizes.T, sizes.rows)
                          : options.method == ConvolutionMethod::direct;
  return direct ? direct_convolution(x, kernel, sizes) : spectral_convolution(x, kernel, sizes);
}

}  // namespace bochner::inline BOCHNER_PRECISION

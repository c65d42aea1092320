#include <bochner/autodiff/compute/convolution.hpp>
#include <bochner/autodiff/compute/exponential_kernels.hpp>
#include <bochner/autodiff/compute/prefix_sums.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
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
  return record("long_convolution", std::move(y), {x, kernel},
                [=](Tensor& g) {
                  if (kernel.needs_gradient())
                    accumulate_kernel_directly(sizes.sequences(), sizes.rows, x.data(), g.data(),
                                               kernel.gradient_buffer().data() + first);
                  if (!x.needs_gradient()) return;
                  const GradientTarget target(x);
                  convolve_directly(sizes.sequences(), sizes.rows, g.data(), kernel.data() + first,
                                    true, target.beta, target.data);
                },
                {{x, [&](const Var& d) { return direct_convolution(d, kernel, sizes); }},
                 {kernel, [&](const Var& d) { return direct_convolution(x, d, sizes); }}});
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
      },
      {{x, [&](const Var& d) { return spectral_convolution(d, kernel, sizes); }},
       {kernel, [&](const Var& d) { return spectral_convolution(x, d, sizes); }}});
}

/// Returns the edges of the reversed kernel: lag l becomes -l, and the last piece the first.
LagEdges mirrored_edges(const LagEdges& edges) {
  LagEdges mirrored(edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) mirrored[e] = 1 - edges[edges.size() - 1 - e];
  return mirrored;
}

Tensor mirrored_rows(const Tensor& k) {
  const std::size_t S = k.shape()[0], D = k.shape()[1];
  Tensor rows = uninitialized(k.shape());
  for (std::size_t s = 0; s < S; ++s)
    std::copy_n(k.data() + (S - 1 - s) * D, D, rows.data() + s * D);
  return rows;
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
    return record("long_convolution", zeros(x.shape()), {x, kernel}, [](Tensor&) {},
                  {{x, [](const Var& d) { return d; }},
                   {kernel, [&](const Var&) { return Var(zeros(x.shape())); }}});
  const bool direct = options.method == ConvolutionMethod::fastest
                          ? is_short_convolution(sizes.T, sizes.rows)
                          : options.method == ConvolutionMethod::direct;
  return direct ? direct_convolution(x, kernel, sizes) : spectral_convolution(x, kernel, sizes);
}

std::vector<std::int64_t> dyadic_edges(std::size_t lags, bool both_ways) {
  require(lags >= 1 && lags <= std::size_t(1) << 60, "dyadic_edges", lags,
          " lags: there can be 1 to 2^60");
  std::vector<std::int64_t> edges{0};
  for (std::int64_t edge = 1; edge < std::int64_t(lags); edge *= 2) edges.push_back(edge);
  edges.push_back(std::int64_t(lags));
  if (!both_ways) return edges;
  std::vector<std::int64_t> all;
  for (std::size_t i = edges.size(); --i > 0;) all.push_back(-edges[i]);
  all.insert(all.end(), edges.begin(), edges.end());
  return all;
}

Var prefix_convolution(const Var& x, const Var& k, const std::vector<std::int64_t>& edges,
                       const std::vector<std::size_t>& lengths) {
  require(x.rank() == 3 && k.rank() == 2 && k.dim(1) == x.dim(2) && k.dim(0) + 1 == edges.size(),
          "prefix_convolution", "k must be (S, D) for x (B, T, D) and S + 1 = ", edges.size(),
          " edges: x ", x.shape(), ", k ", k.shape());
  require(std::is_sorted(edges.begin(), edges.end()), "prefix_convolution",
          "edges must be in ascending order");
  require_lengths("prefix_convolution", lengths, x.shape(), "x");
  const std::size_t B = x.dim(0), T = x.dim(1), D = x.dim(2);
  if (x.size() == 0 || k.size() == 0)
    return record("prefix_convolution", zeros(x.shape()), {x, k}, [](Tensor&) {},
                  {{x, [](const Var& d) { return 0 * d; }},
                   {k, [&](const Var&) { return Var(zeros(x.shape())); }}});
  Tensor y = uninitialized(x.shape());
  convolve_pieces({B, T, D, lengths}, edges, x.data(), k.data(), 0, y.data());
  return record("prefix_convolution", std::move(y), {x, k},
                [=](Tensor& g) {
                  const ChannelSequences sequences{B, T, D, lengths};
                  if (k.needs_gradient())
                    accumulate_pieces(sequences, edges, x.data(), g.data(),
                                      k.gradient_buffer().data());
                  if (!x.needs_gradient()) return;
                  const GradientTarget target(x);
                  const Tensor rows = mirrored_rows(k.value());
                  convolve_pieces(sequences, mirrored_edges(edges), g.data(), rows.data(),
                                  target.beta, target.data);
                },
                {{x, [&](const Var& d) { return prefix_convolution(d, k, edges, lengths); }},
                 {k, [&](const Var& d) { return prefix_convolution(x, d, edges, lengths); }}});
}

Var exponential_kernels(const Var& rate, const Var& frequency, const Var& cosine, const Var& sine,
                        std::size_t count, bool descending) {
  const Shape& shape = rate.shape();
  require(shape.size() == 2 && frequency.shape() == shape && cosine.shape() == shape &&
              sine.shape() == shape,
          "exponential_kernels", "needs four arrays (C, N): ", shape, ", ", frequency.shape(), ", ",
          cosine.shape(), ", ", sine.shape());
  const auto waves_of = [=] {
    return ExponentialKernels{shape[0],         shape[1],      rate.data(),
                              frequency.data(), cosine.data(), sine.data()};
  };
  Tensor y = zeros({count, shape[0]});
  sum_exponential_kernels(waves_of(), count, descending, y.data());
  return record(
      "exponential_kernels", std::move(y), {rate, frequency, cosine, sine}, [=](Tensor& g) {
        Tensor re = zeros(shape), im = zeros(shape), lag_re = zeros(shape), lag_im = zeros(shape);
        wave_moments(waves_of(), count, descending, g.data(),
                     {re.data(), im.data(), lag_re.data(), lag_im.data()});
        const Tensor &a = cosine.value(), &b = sine.value();
        rate.add_gradient(-(a * lag_re + b * lag_im));
        frequency.add_gradient(b * lag_re - a * lag_im);
        cosine.add_gradient(std::move(re));
        sine.add_gradient(std::move(im));
      });
}

}  // namespace bochner::inline BOCHNER_PRECISION

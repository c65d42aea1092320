#include <bochner/layers/basic/conv.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::size_t channels_per_group(std::size_t in, std::size_t out, const ConvOptions& options) {
  require(options.groups >= 1 && in % options.groups == 0 && out % options.groups == 0, "conv",
          options.groups, " groups must divide ", in, " and ", out, " channels");
  return in / options.groups;
}

}  // namespace

template <int axes>
ConvLayer<axes>::ConvLayer(std::size_t in, std::size_t out, std::size_t size,
                           const ConvOptions& options)
    : options_(options) {
  const std::size_t inputs = channels_per_group(in, out, options);
  const Shape shape = axes == 1 ? Shape{size, inputs, out} : Shape{size, size, inputs, out};
  const std::size_t fan_in = (axes == 1 ? size : size * size) * inputs;
  weight_ = Parameter(zeros(shape), Initial::uniform(1 / std::sqrt(double(fan_in))));
  bias_ = Parameter({out}, weight_.initial());
}

template class ConvLayer<1>;
template class ConvLayer<2>;

Pooling::Pooling(const std::string& kind, const PoolOptions& options)
    : max_(kind == "max"), options_(options) {
  require(max_ || kind == "mean", "pooling", "no pooling is called \"", kind,
          "\"; there are: max, mean");
}

Var Pooling::forward(Tape&, const Var& x) const {
  return max_ ? max_pool(x, options_) : mean_pool(x, options_);
}

}  // namespace bochner::inline BOCHNER_PRECISION

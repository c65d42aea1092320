#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/basic/conv.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::size_t channels_per_group(std::size_t in, std::size_t out, const ConvOptions& options) {
  require(options.groups >= 1 && in % options.groups == 0 && out % options.groups == 0, "conv",
          options.groups, " groups must divide ", in, " and ", out, " channels");
  return in / options.groups;
}

Initial fan_in_uniform(std::size_t count) { return Initial::uniform(1 / std::sqrt(double(count))); }

}  // namespace

Conv1d::Conv1d(std::size_t in, std::size_t out, std::size_t size, const ConvOptions& options)
    : options_(options),
      weight_({size, channels_per_group(in, out, options), out},
              fan_in_uniform(size * channels_per_group(in, out, options))),
      bias_({out}, weight_.initial()) {}

Var Conv1d::forward(Tape& tape, const Var& x) {
  return conv1d(x, tape(weight_), options_) + tape(bias_);
}

void Conv1d::visit(Visitor& visitor) {
  visitor("weight", weight_);
  visitor("bias", bias_);
}

Conv2d::Conv2d(std::size_t in, std::size_t out, std::size_t size, const ConvOptions& options)
    : options_(options),
      weight_({size, size, channels_per_group(in, out, options), out},
              fan_in_uniform(size * size * channels_per_group(in, out, options))),
      bias_({out}, weight_.initial()) {}

Var Conv2d::forward(Tape& tape, const Var& x) {
  return conv2d(x, tape(weight_), options_) + tape(bias_);
}

void Conv2d::visit(Visitor& visitor) {
  visitor("weight", weight_);
  visitor("bias", bias_);
}

Pooling::Pooling(const std::string& kind, const PoolOptions& options)
    : max_(kind == "max"), options_(options) {
  require(max_ || kind == "mean", "pooling", "no pooling is called \"", kind,
          "\"; there are: max, mean");
}

Var Pooling::forward(Tape&, const Var& x) const {
  return max_ ? max_pool(x, options_) : mean_pool(x, options_);
}

}  // namespace bochner::inline BOCHNER_PRECISION

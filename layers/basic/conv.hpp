#pragma once
/// Convolution layers and pooling; channels are the last axis.

#include <bochner/autodiff/ops/conv.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/module.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Convolution with bias over one axis or two, with square kernels: weight (K, C / groups, E) or
/// (K, K, C / groups, E). Weight and bias start uniform in +-1/sqrt(K C / groups), or +-1/sqrt(K K
/// C / groups). (B, T, C) -> (B, T', E), or (B, R, S, C) -> (B, R', S', E)
template <int axes>
class ConvLayer : public Module {
 public:
  ConvLayer(std::size_t in, std::size_t out, std::size_t size, const ConvOptions& options = {});
  Var forward(Tape& tape, const Var& x) {
    const auto convolve = axes == 1 ? conv1d : conv2d;
    return convolve(x, tape(weight_), options_) + tape(bias_);
  }
  void visit(Visitor& visitor) override {
    visitor("weight", weight_);
    visitor("bias", bias_);
  }

 private:
  ConvOptions options_;
  Parameter weight_, bias_;
};
using Conv1d = ConvLayer<1>;
using Conv2d = ConvLayer<2>;

/// Depthwise separable convolution: depthwise, then 1 x 1. Sets the groups of the options. Sifre
/// and Mallat, 2014; Chollet, "Xception", 2017.
template <class Conv>
class Separable : public Module {
 public:
  Separable(std::size_t in, std::size_t out, std::size_t size, const ConvOptions& options = {})
      : depthwise_(in, in, size, {options.stride, options.padding, in}), pointwise_(in, out, 1) {}
  Var forward(Tape& tape, const Var& x) {
    return pointwise_.forward(tape, depthwise_.forward(tape, x));
  }
  void visit(Visitor& visitor) override {
    visitor("depthwise", depthwise_);
    visitor("pointwise", pointwise_);
  }

 private:
  Conv depthwise_, pointwise_;
};

/// Max or mean pooling, chosen by "max" or "mean". (B, T, C) or (B, R, S, C)
class Pooling : public Module {
 public:
  explicit Pooling(const std::string& kind, const PoolOptions& options = {});
  Var forward(Tape&, const Var& x) const;
  void visit(Visitor&) override {}

 private:
  bool max_;
  PoolOptions options_;
};

}  // namespace bochner::inline BOCHNER_PRECISION

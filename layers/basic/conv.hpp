#pragma once
/// Convolution layers and pooling; channels are the last axis.

#include <bochner/autodiff/ops/conv.hpp>
#include <bochner/layers/module.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// 1-D convolution with bias; weight (K, C / groups, E). Both start uniform in +-1/sqrt(K C /
/// groups). (B, T, C) -> (B, T', E)
class Conv1d : public Module {
 public:
  Conv1d(std::size_t in, std::size_t out, std::size_t size, const ConvOptions& options = {});
  Var forward(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override;

 private:
  ConvOptions options_;
  Parameter weight_, bias_;
};

/// 2-D convolution with square kernels and bias; weight (K, K, C / groups, E). Both start uniform
/// in +-1/sqrt(K K C / groups). (B, R, S, C) -> (B, R', S', E)
class Conv2d : public Module {
 public:
  Conv2d(std::size_t in, std::size_t out, std::size_t size, const ConvOptions& options = {});
  Var forward(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override;

 private:
  ConvOptions options_;
  Parameter weight_, bias_;
};

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

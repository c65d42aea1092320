#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/spectral/coupling.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// y = x W + bias of one head, in double.
struct HeadAffine {
  std::size_t inputs, outputs;
  std::vector<double> weight, bias;

  HeadAffine(const Parameter& w, const Parameter& b, std::size_t head)
      : inputs(w.shape()[1]), outputs(w.shape()[2]) {
    const real *first = w.value().data() + head * inputs * outputs,
               *offset = b.value().data() + head * outputs;
    weight.assign(first, first + inputs * outputs);
    bias.assign(offset, offset + outputs);
  }
  std::vector<double> operator()(const double* x) const {
    std::vector<double> y = bias;
    for (std::size_t i = 0; i < inputs; ++i) {
      for (std::size_t j = 0; j < outputs; ++j) y[j] += x[i] * weight[i * outputs + j];
    }
    return y;
  }
};

}  // namespace

Coupling::Coupling(std::size_t H, std::size_t d, std::size_t hidden, bool swapped)
    : middle_(swapped ? d / 2 : d - d / 2), swapped_(swapped) {
  require(d >= 2, "flow", "coupling layers need two coordinates or more: d ", d);
  const std::size_t given = swapped ? d - middle_ : middle_, moved = d - given;
  in_ = Parameter({H, given, hidden}, Initial::normal(1 / std::sqrt(double(given))));
  in_bias_ = Parameter({H, 1, hidden});
  out_ = Parameter({H, hidden, 2 * moved});
  out_bias_ = Parameter({H, 1, 2 * moved});
}

Var Coupling::forward(Tape& tape, const Var& x) {
  const Var low = slice(x, -1, 0, middle_), high = slice(x, -1, middle_, x.dim(-1));
  const Var &given = swapped_ ? high : low, &moved = swapped_ ? low : high;
  const Var hidden = tanh(matmul(given, tape(in_)) + tape(in_bias_));
  const Var out = matmul(hidden, tape(out_)) + tape(out_bias_);
  const std::size_t count = moved.dim(-1);
  const Var y = moved * exp(tanh(slice(out, -1, 0, count))) + slice(out, -1, count, 2 * count);
  return concat(swapped_ ? std::vector<Var>{y, given} : std::vector<Var>{given, y}, -1);
}

void Coupling::visit(Visitor& visitor) {
  visitor("in", in_);
  visitor("in_bias", in_bias_);
  visitor("out", out_);
  visitor("out_bias", out_bias_);
}

Coupling::Inverse Coupling::inverse(std::size_t head) const {
  const HeadAffine in(in_, in_bias_, head), out(out_, out_bias_, head);
  return [=, given = swapped_ ? middle_ : 0, moved = swapped_ ? 0 : middle_](double* y) {
    std::vector<double> hidden = in(y + given);
    for (double& unit : hidden) unit = std::tanh(unit);
    const std::vector<double> change = out(hidden.data());
    const std::size_t count = change.size() / 2;
    double log_volume = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const double log_stretch = std::tanh(change[j]);
      y[moved + j] = (y[moved + j] - change[count + j]) * std::exp(-log_stretch);
      log_volume += log_stretch;
    }
    return log_volume;
  };
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <map>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace mlstm_test {

using namespace layer_check;

constexpr std::size_t D = 6, H = 2, d = D / H, T = 40;

using Values = std::map<std::string, Tensor>;

/// Computes x W + b of a token, in double.
std::vector<double> affine_of(const double* x, const Tensor& w, const Tensor& b) {
  std::vector<double> y(b.data(), b.data() + b.size());
  for (std::size_t i = 0; i < D; ++i)
    for (std::size_t j = 0; j < y.size(); ++j) y[j] += x[i] * double(w(i, j));
  return y;
}

/// Computes the recurrence of the paper without a stabilizer, in double. (T, D)
std::vector<double> reference(const Tensor& x, const Values& p) {
  const auto of = [&](const double* token, const std::string& w, const std::string& b) {
    return affine_of(token, p.at("directions.0." + w), p.at("directions.0." + b));
  };
  std::vector<double> C(H * d * d), n(H * d), out;
  for (std::size_t t = 0; t < T; ++t) {
    const std::vector<double> token(x.data() + t * D, x.data() + (t + 1) * D);
    const auto q = of(token.data(), "query.weight", "query.bias"),
               k = of(token.data(), "key.weight", "key.bias"),
               v = of(token.data(), "value.weight", "value.bias"),
               i = of(token.data(), "input_gate", "input_bias"),
               f = of(token.data(), "forget_gate", "forget_bias"),
               o = of(token.data(), "output_gate.weight", "output_gate.bias");
    std::vector<double> h(D);
    for (std::size_t head = 0; head < H; ++head) {
      const double forget = 1 / (1 + std::exp(-f[head])), input = std::exp(i[head]);
      double weight = 0, square = 0;
      for (std::size_t a = 0; a < d; ++a) {
        double& state = n[head * d + a];
        state = forget * state + input * k[head * d + a];
        weight += state * q[head * d + a] / std::sqrt(double(d));
      }
      for (std::size_t b = 0; b < d; ++b) {
        double sum = 0;
        for (std::size_t a = 0; a < d; ++a) {
          double& state = C[(head * d + a) * d + b];
          state = forget * state + input * k[head * d + a] * v[head * d + b];
          sum += state * q[head * d + a] / std::sqrt(double(d));
        }
        h[head * d + b] = sum / std::max(std::abs(weight), 1.0);
        square += h[head * d + b] * h[head * d + b];
      }
      for (std::size_t b = 0; b < d; ++b)
        h[head * d + b] *=
            1 / std::sqrt(square / double(d) + 1e-6) / (1 + std::exp(-o[head * d + b]));
    }
    for (const double y : of(h.data(), "output.weight", "output.bias")) out.push_back(y);
  }
  return out;
}

MixerSpec spec() {
  MixerSpec spec;
  spec.kind = "mlstm", spec.width = D, spec.heads = H, spec.chunk = 8;
  return spec;
}

TEST(Mlstm, IsItsRecurrenceWithoutAStabiliser) {
  for (const double deviation : {0.5, 2.0}) {
    const auto mixer = mixers().make("mlstm", spec());
    randomize(*mixer, deviation);
    Values values;
    for (const NamedParameter& named : parameters_of(*mixer))
      values[named.name] = named.parameter->value();
    const Tensor x = random_tensor({1, T, D}, 1);
    Tape tape;
    const Tensor y = mixer->forward(tape, x).value();
    const std::vector<double> expected = reference(x, values);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(y.data()[i], expected[i], is_double ? 1e-9 : 1e-3) << deviation << " " << i / D;
  }
}

/// Input gates of e^400 and e^-400 overflow and underflow without a stabilizer.
TEST(Mlstm, StandsGatesThatExponentialsDoNot) {
  for (const double bias : {400.0, -400.0}) {
    const auto mixer = mixers().make("mlstm", spec());
    initialize(*mixer, 1);
    for (const NamedParameter& named : parameters_of(*mixer))
      if (named.name.ends_with("input_bias")) named.parameter->value().fill(real(bias));
    Tape tape;
    const Var y = mixer->forward(tape, tape.constant(random_tensor({1, T, D}, 1)));
    for (const real value : y.value()) ASSERT_TRUE(std::isfinite(value));
    tape.backward(y, random_tensor(y.shape(), 2));
    for (const NamedParameter& named : parameters_of(*mixer))
      for (const real value : named.parameter->gradient())
        ASSERT_TRUE(std::isfinite(value)) << named.name;
  }
}

/// Gates of padding are arbitrary.
TEST(Mlstm, PaddingSpoilsNoGradient) {
  const auto mixer = mixers().make("mlstm", spec());
  initialize(*mixer, 1);
  for (const NamedParameter& named : parameters_of(*mixer))
    if (named.name.ends_with("input_gate")) named.parameter->value().fill(real(0.3));
  Tensor x = random_tensor({1, T, D}, 1), cotangent = random_tensor({1, T, D}, 2);
  for (std::size_t i = T / 2 * D; i < T * D; ++i) x.data()[i] = 1000, cotangent.data()[i] = 0;
  Tape tape;
  tape.training = true;
  const Var y = mixer->forward(tape, x, Layout{{T / 2}});
  tape.backward(y, cotangent);
  for (const NamedParameter& named : parameters_of(*mixer)) {
    const Tensor& gradient = named.parameter->gradient();
    EXPECT_TRUE(all_finite(gradient.data(), gradient.size())) << named.name;
  }
}

}  // namespace mlstm_test
}  // namespace bochner::inline BOCHNER_PRECISION

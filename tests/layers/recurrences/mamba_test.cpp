#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <map>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace mamba_test {

using namespace layer_check;

constexpr std::size_t D = 4, inner = 8, T = 30;
constexpr double limit = is_double ? 1e-10 : 1e-4;  // relative above 1

using Row = std::vector<double>;
using Values = std::map<std::string, Tensor>;

std::unique_ptr<Mixer> mixer_of(const MixerSpec& spec, Values& p) {
  auto mixer = mixers().make(spec.kind, spec);
  randomize(*mixer, 0.7);
  for (const NamedParameter& named : parameters_of(*mixer))
    p[named.name] = named.parameter->value();
  return mixer;
}

double silu_of(double x) { return x / (1 + std::exp(-x)); }
double softplus_of(double x) { return std::log1p(std::exp(x)); }

/// Computes x W + b.
Row affine_of(const double* x, const Tensor& w, const Tensor& b) {
  Row y(b.data(), b.data() + b.size());
  for (std::size_t i = 0; i < w.shape()[0]; ++i)
    for (std::size_t j = 0; j < y.size(); ++j) y[j] += x[i] * double(w(i, j));
  return y;
}

/// Returns silu of each channel's convolution over the tokens up to t.
Row convolved(const std::vector<Row>& tokens, std::size_t t, const Values& p) {
  const Tensor &w = p.at("convolution.weight"), &b = p.at("convolution.bias");
  Row y(b.size());
  for (std::size_t c = 0; c < y.size(); ++c) {
    double sum = tokens[t][c] + double(b.data()[c]);
    for (std::size_t j = 0; j < w.shape()[0] && j <= t; ++j)
      sum += double(w(j, c)) * tokens[t - j][c];
    y[c] = silu_of(sum);
  }
  return y;
}

/// Returns the rows of the input map from its column `first` on.
std::vector<Row> projected(const Tensor& x, const Values& p, std::size_t first) {
  std::vector<Row> rows;
  for (std::size_t t = 0; t < T; ++t) {
    const Row token(x.data() + t * D, x.data() + (t + 1) * D);
    const Row all = affine_of(token.data(), p.at("input.weight"), p.at("input.bias"));
    rows.emplace_back(all.begin() + std::ptrdiff_t(first), all.end());
  }
  return rows;
}

void expect_token(const Tensor& y, std::size_t t, const Row& wanted) {
  for (std::size_t j = 0; j < D; ++j)
    ASSERT_NEAR(double(y(0, t, j)), wanted[j], limit * std::max(1.0, std::abs(wanted[j]))) << t;
}

TEST(Mamba, IsItsRecurrenceInDouble) {
  constexpr std::size_t N = 3, rank = 2;
  MixerSpec spec;
  spec.kind = "mamba", spec.width = D;
  spec.own.of<MambaSpec>() = {.states = N, .rank = rank};
  Values p;
  const auto mixer = mixer_of(spec, p);
  const Tensor x = random_tensor({1, T, D}, 1);
  Tape tape;
  const Tensor y = mixer->forward(tape, x).value();
  const std::vector<Row> gates = projected(x, p, 0), inputs = projected(x, p, inner);
  Row h(inner * N);
  for (std::size_t t = 0; t < T; ++t) {
    const Row u = convolved(inputs, t, p);
    const Row selected = affine_of(u.data(), p["selection.weight"], p["selection.bias"]);
    const Row steps = affine_of(selected.data(), p["step_size"], p["step_bias"]);
    Row out(inner);
    for (std::size_t c = 0; c < inner; ++c) {
      const double step = softplus_of(steps[c]);
      double sum = double(p["skip"].data()[c]) * u[c];
      for (std::size_t n = 0; n < N; ++n) {
        double& state = h[c * N + n];
        state = std::exp(-step * std::exp(double(p["spectrum.log_rate"](n, c)))) * state +
                step * selected[rank + n] * u[c];
        sum += selected[rank + N + n] * state;
      }
      out[c] = sum * silu_of(gates[t][c]);
    }
    expect_token(y, t, affine_of(out.data(), p["output.weight"], p["output.bias"]));
  }
}

TEST(Mamba2, IsItsRecurrenceInDouble) {
  constexpr std::size_t N = 5, H = 2, d = inner / H;
  MixerSpec spec;
  spec.kind = "mamba2", spec.width = D, spec.heads = H, spec.chunk = 8;
  spec.own.of<Mamba2Spec>() = {.states = N};
  Values p;
  const auto mixer = mixer_of(spec, p);
  const Tensor x = random_tensor({1, T, D}, 1);
  Tape tape;
  const Tensor y = mixer->forward(tape, x).value();
  const std::vector<Row> gates = projected(x, p, 0), inputs = projected(x, p, inner);
  Row S(H * N * d);
  for (std::size_t t = 0; t < T; ++t) {
    const Row u = convolved(inputs, t, p), token(x.data() + t * D, x.data() + (t + 1) * D);
    const Row steps = affine_of(token.data(), p["step_size"], p["step_bias"]);
    Row out(inner);
    double square = 0;
    for (std::size_t c = 0; c < inner; ++c) {
      const double step = softplus_of(steps[c / d]);
      const double decay = std::exp(-step * std::exp(double(p["log_rate"].data()[c / d])));
      double sum = double(p["skip"].data()[c / d]) * u[c];
      for (std::size_t n = 0; n < N; ++n) {
        double& state = S[c * N + n];
        state = decay * state + u[inner + n] * step * u[c];
        sum += u[inner + N + n] * state;
      }
      out[c] = sum * silu_of(gates[t][c]);
      square += out[c] * out[c];
    }
    for (std::size_t c = 0; c < inner; ++c)
      out[c] *= double(p["norm.gain"].data()[c]) / std::sqrt(square / inner + 1e-6);
    expect_token(y, t, affine_of(out.data(), p["output.weight"], p["output.bias"]));
  }
}

/// Time constants of the published initial steps and rates.
TEST(Mamba2, StartsWithMemoriesOfOneToAThousandTokens) {
  MixerSpec spec;
  spec.kind = "mamba2", spec.width = 8, spec.heads = 4;
  const auto mixer = mixers().make(spec.kind, spec);
  initialize(*mixer, 1);
  Row memory(4, 1);
  for (const NamedParameter& named : parameters_of(*mixer))
    for (std::size_t h = 0; h < 4; ++h) {
      const double value = named.name == "step_bias" || named.name == "log_rate"
                               ? named.parameter->value().data()[h]
                               : 0;
      if (named.name == "step_bias") memory[h] /= softplus_of(value);
      if (named.name == "log_rate") memory[h] /= std::exp(value);
    }
  EXPECT_NEAR(memory.front(), 1000, 1);
  EXPECT_NEAR(memory.back(), 1 / 1.6, 1e-3);
}

}  // namespace mamba_test
}  // namespace bochner::inline BOCHNER_PRECISION

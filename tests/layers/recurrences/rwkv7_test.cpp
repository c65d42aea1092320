#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <map>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace rwkv7_test {

using namespace layer_check;

constexpr std::size_t D = 6, H = 2, d = D / H, T = 40;

using Row = std::vector<double>;
using Values = std::map<std::string, Tensor>;

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// Computes x W + b.
Row affine_of(const Row& x, const Tensor& w, const Tensor& b) {
  Row y(b.data(), b.data() + b.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < y.size(); ++j) y[j] += x[i] * double(w(i, j));
  return y;
}

/// Inputs of one token, each for all heads.
struct Token {
  Row r, k, v, w, a, g, u;
};

Token token_of(const Tensor& x, std::size_t t, const Values& p) {
  const auto mixed = [&](std::size_t part) {
    Row y(D);
    for (std::size_t c = 0; c < D; ++c) {
      const double now = x(0, t, c), before = t > 0 ? x(0, t - 1, c) : real(0);
      y[c] = now + (before - now) * double(p.at("shift.shares")(part, c));
    }
    return y;
  };
  const auto map = [&](std::size_t part, const std::string& name) {
    return affine_of(mixed(part), p.at(name + ".weight"), p.at(name + ".bias"));
  };
  const auto narrow = [&](std::size_t part, const std::string& name, double (*f)(double)) {
    Row y = map(part, name + ".down");
    for (double& one : y) one = f(one);
    return affine_of(y, p.at(name + ".up"), p.at(name + ".bias"));
  };
  const auto same = [](double one) { return one; };
  Token in{map(0, "receptance"),
           map(1, "key"),
           map(2, "value"),
           narrow(3, "decay", std::tanh),
           narrow(4, "rate", same),
           narrow(5, "gate", sigmoid_of),
           Row(D)};
  for (std::size_t c = 0; c < D; ++c) {
    in.w[c] = std::exp(-std::exp(-0.5) * sigmoid_of(in.w[c]));
    in.a[c] = sigmoid_of(in.a[c]);
    in.u[c] = in.k[c] * double(p.at("erase_key").data()[c]);
    in.k[c] *= 1 + (in.a[c] - 1) * double(p.at("write_rate").data()[c]);
  }
  for (std::size_t h = 0; h < H; ++h) {
    double square = 0;
    for (std::size_t i = 0; i < d; ++i) square += in.u[h * d + i] * in.u[h * d + i];
    for (std::size_t i = 0; i < d; ++i) in.u[h * d + i] /= std::sqrt(square);
  }
  return in;
}

/// Updates a head's state (d, d), S(value, key) as in the paper, and returns its output.
Row read_head(const Token& in, std::size_t h, Row& S, const Values& p) {
  Row y(d);
  double mean = 0, square = 0, bonus = 0;
  for (std::size_t e = 0; e < d; ++e) {
    double recalled = 0;
    for (std::size_t i = 0; i < d; ++i) recalled += S[e * d + i] * in.u[h * d + i];
    for (std::size_t i = 0; i < d; ++i) {
      const std::size_t c = h * d + i;
      double& s = S[e * d + i];
      s = s * in.w[c] - recalled * in.u[c] * in.a[c] + in.v[h * d + e] * in.k[c];
      y[e] += s * in.r[c];
    }
    mean += y[e] / d;
  }
  for (const double one : y) square += (one - mean) * (one - mean) / d;
  for (std::size_t c = h * d; c < (h + 1) * d; ++c)
    bonus += in.r[c] * in.k[c] * double(p.at("bonus").data()[c]);
  for (std::size_t e = 0; e < d; ++e) {
    const std::size_t c = h * d + e;
    y[e] = ((y[e] - mean) / std::sqrt(square + 1e-5 * d) * double(p.at("gain").data()[c]) +
            double(p.at("bias").data()[c]) + bonus * in.v[c]) *
           in.g[c];
  }
  return y;
}

TEST(Rwkv7, IsItsRecurrenceInDouble) {
  MixerSpec spec;
  spec.kind = "rwkv7", spec.width = D, spec.heads = H, spec.chunk = 8;
  spec.own.of<Rwkv7Spec>().rank = 3;
  const auto mixer = mixers().make(spec.kind, spec);
  randomize(*mixer, 0.7);
  Values p;
  for (const NamedParameter& named : parameters_of(*mixer))
    p[named.name] = named.parameter->value();
  const Tensor x = random_tensor({1, T, D}, 1);
  Tape tape;
  const Tensor y = mixer->forward(tape, x).value();
  std::vector<Row> states(H, Row(d * d));
  for (std::size_t t = 0; t < T; ++t) {
    const Token in = token_of(x, t, p);
    Row all;
    for (std::size_t h = 0; h < H; ++h) {
      const Row head = read_head(in, h, states[h], p);
      all.insert(all.end(), head.begin(), head.end());
    }
    const Row wanted = affine_of(all, p.at("output.weight"), p.at("output.bias"));
    for (std::size_t c = 0; c < D; ++c)
      ASSERT_NEAR(double(y(0, t, c)), wanted[c], is_double ? 1e-9 : 1e-3) << t;
  }
}

}  // namespace rwkv7_test
}  // namespace bochner::inline BOCHNER_PRECISION

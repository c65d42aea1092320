#include <gmock/gmock.h>

#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/models/block.hpp>
#include <bochner/layers/recurrences/lower_bounds.hpp>
#include <cmath>
#include <map>

#include "layers/mixer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace hgrn2_test {

using namespace layer_check;
using op_check::error_of;

/// Makes block 1 of three, with bounds, or the only block.
std::unique_ptr<Mixer> mixer_of(bool causal, bool above_a_bound) {
  MixerSpec spec;
  spec.kind = "hgrn2";
  spec.width = 8, spec.heads = 2, spec.chunk = 4;
  spec.causal = causal;
  if (above_a_bound) spec.place = {1, 3, std::make_shared<StackPlace::Shared>()};
  auto mixer = mixers().make("hgrn2", spec);
  randomize(*mixer);
  return mixer;
}

struct Variant {
  bool causal, bound;
};
constexpr Variant variants[] = {{true, false}, {true, true}, {false, false}, {false, true}};

TEST(Hgrn2, IsDifferentiableThroughAllItsParameters) {
  for (const auto [causal, bound] : variants) {
    const auto mixer = mixer_of(causal, bound);
    check_layer(*mixer, random_tensor({2, 7, 8}, 1), [&](Tape& tape, const Var& x) {
      return mixer->forward(tape, x, {.lengths = {7, 4}});
    });
  }
}

TEST(Hgrn2, StepByStepEqualsTheBatch) {
  for (bool bound : {false, true}) {
    const auto mixer = mixer_of(true, bound);
    expect_stream_equals_batch(*mixer, random_tensor({1, 30, 8}, 1));
  }
}

TEST(Hgrn2, NeverShowsTheFutureToTheBitAndPaddingNothing) {
  for (const auto [causal, bound] : variants) {
    const auto mixer = mixer_of(causal, bound);
    if (causal) expect_past_only(*mixer, 8, 20);
    expect_padding_changes_nothing(*mixer, 8, {13, 0, 5}, 20);
  }
}

using Parameters = std::map<std::string, Tensor>;

/// Computes x W + b of a linear map, in double.
std::vector<double> affine_of(const double* x, const Parameters& p, const std::string& map) {
  const Tensor &weight = p.at(map + ".weight"), &bias = p.at(map + ".bias");
  std::vector<double> y(bias.begin(), bias.end());
  for (std::size_t i = 0; i < weight.shape()[0]; ++i)
    for (std::size_t j = 0; j < y.size(); ++j) y[j] += x[i] * double(weight(i, j));
  return y;
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// Returns g_1 of the second of three blocks: the first element of the softmax of each channel's
/// logits.
std::vector<double> bounds_of(const Parameters& p) {
  std::vector<double> g(8);
  const auto logits = p.find("lower_bounds.logits");
  for (std::size_t c = 0; logits != p.end() && c < 8; ++c) {
    double sum = 0;
    for (std::size_t l = 0; l < 3; ++l) sum += std::exp(double(logits->second(c, l)));
    g[c] = std::exp(double(logits->second(c, 0))) / sum;
  }
  return g;
}

/// Adds S <- diag(lambda) S + (1 - lambda) i^T and y = S^T o of two heads, one way; the other way
/// reads the state before a token is written.
void add_direction(const std::vector<std::vector<double>>& gates, const std::vector<double>& g,
                   bool reverse, std::vector<double>& y) {
  const std::size_t T = gates.size(), d = 4;
  double S[8][4] = {};
  for (std::size_t n = 0; n < T; ++n) {
    const std::size_t t = reverse ? T - 1 - n : n;
    const double *i = gates[t].data(), *o = i + 8, *f = o + 8;
    for (std::size_t c = 0; c < 8; ++c) {
      const double lambda = g[c] + (1 - g[c]) * sigmoid_of(f[c]);
      for (std::size_t e = 0; e < d; ++e) {
        const std::size_t value = c / d * d + e;
        S[c][e] *= lambda;
        if (reverse) y[t * 8 + value] += sigmoid_of(o[c]) * S[c][e];
        S[c][e] += (1 - lambda) * i[value] * sigmoid_of(i[value]);
        if (!reverse) y[t * 8 + value] += sigmoid_of(o[c]) * S[c][e];
      }
    }
  }
}

/// Returns the output at one token: a layer norm and a linear map.
std::vector<double> output_at(const double* y, const Parameters& p) {
  double mean = 0, square = 0, normed[8];
  for (std::size_t c = 0; c < 8; ++c) mean += y[c] / 8, square += y[c] * y[c] / 8;
  for (std::size_t c = 0; c < 8; ++c)
    normed[c] = (y[c] - mean) / std::sqrt(square - mean * mean + 1e-5) *
                    double(p.at("norm.gain").data()[c]) +
                double(p.at("norm.bias").data()[c]);
  return affine_of(normed, p, "output");
}

/// Non-causal models count a token once.
TEST(Hgrn2, IsItsRecurrenceInDouble) {
  for (const auto [causal, bound] : variants) {
    const auto mixer = mixer_of(causal, bound);
    Parameters p;
    for (const NamedParameter& named : parameters_of(*mixer))
      p[named.name] = named.parameter->value();
    const std::size_t T = 11;
    const Tensor x = random_tensor({1, T, 8}, 1);
    std::vector<std::vector<double>> gates;
    for (std::size_t t = 0; t < T; ++t) {
      const std::vector<double> token(x.data() + t * 8, x.data() + (t + 1) * 8);
      gates.push_back(affine_of(token.data(), p, "input"));
    }
    std::vector<double> y(T * 8);
    add_direction(gates, bounds_of(p), false, y);
    if (!causal) add_direction(gates, bounds_of(p), true, y);
    const Tensor seen = output_of(*mixer, x);
    for (std::size_t t = 0; t < T; ++t) {
      const std::vector<double> wanted = output_at(y.data() + t * 8, p);
      for (std::size_t c = 0; c < 8; ++c)
        ASSERT_NEAR(seen(0, t, c), wanted[c], is_double ? 1e-10 : 1e-4) << t;
    }
  }
}

TEST(LowerBounds, RiseFromBlockToBlock) {
  LowerBounds bounds(5, 3);
  Tape tape;
  for (std::size_t l = 0; l < 5; ++l) {
    const Tensor g = bounds.bound(tape, l).value();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(g.data()[i], double(l) / 5, 1e-6);
  }
  randomize(bounds);
  Tensor below = zeros({3});
  for (std::size_t l = 1; l < 5; ++l) {
    const Tensor g = bounds.bound(tape, l).value();
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_GT(g.data()[i], below.data()[i]);
      EXPECT_LT(g.data()[i], 1);
    }
    below = g;
  }
}

/// All blocks share one parameter, which every block above the first trains, recomputed or not.
TEST(LowerBounds, AreSharedByTheBlocksOfAStack) {
  for (bool checkpoint : {false, true}) {
    StackSpec spec;
    spec.blocks = 3;
    spec.checkpoint = checkpoint;
    spec.block.width = 8, spec.block.mixer.heads = 2;
    spec.block.mixer.kind = "hgrn2";
    BlockStack stack(spec);
    initialize(stack, 1);
    const std::vector<std::string> names = names_of(stack);
    EXPECT_EQ(std::ranges::count_if(
                  names, [](const std::string& name) { return name.ends_with("logits"); }),
              1);
    EXPECT_THAT(names, testing::Contains("blocks.0.mixer.lower_bounds.logits"));
    check_layer(stack, random_tensor({1, 5, 8}, 1),
                [&](Tape& tape, const Var& x) { return stack.forward(tape, x); });
  }
}

TEST(Hgrn2, RefusesWhatItHasNot) {
  MixerSpec spec;
  spec.kind = "hgrn2", spec.width = 8, spec.heads = 2;
  spec.convolution = 3;
  EXPECT_EQ(error_of([&] { mixers().make("hgrn2", spec); }),
            "[hgrn2] does not support convolution; set it to 0");
  spec.convolution = 0;
  spec.place = {1, 3};
  EXPECT_EQ(error_of([&] { mixers().make("hgrn2", spec); }),
            "[hgrn2] blocks share lower bounds: build the stack by BlockStack");
}

TEST(Stack, RefusesTwoDirectionsWhereTheFutureIsToBePredicted) {
  StackSpec spec;
  spec.block.mixer.directions = 2;
  EXPECT_EQ(error_of([&] { BlockStack{spec}; }),
            "[mixer] directions = 2 shows tokens what this model has to predict; set it to 1");
  EXPECT_FALSE(in_both_directions(spec).block.mixer.causal);
  spec.block.mixer.directions = 1;
  EXPECT_TRUE(in_both_directions(spec).block.mixer.causal);
}

}  // namespace hgrn2_test
}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/ops/attention/delta_rule.hpp>
#include <bochner/base/pool.hpp>

#include "autodiff/attention_reference.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_rule_test {

using namespace attention_reference;

const std::size_t sequence_lengths[] = {1, 2, 3, 15, 16, 17, 33, 65, 130};
const std::size_t chunk_sizes[] = {1, 3, 16, 32, 200};

/// Kind of the last input: none, rates per head, token, channel, or token and channel.
enum class Rates { none, heads, tokens, channels, all };

Op delta_op(FeatureScale scale, std::size_t chunk, std::vector<std::size_t> lengths = {}) {
  return [=](Tape&, const std::vector<Var>& x) {
    return delta_rule({x[0], scale}, {x[1], scale}, x[2], x[3], x.size() > 4 ? x[4] : Var(),
                      {chunk, lengths});
  };
}

struct DeltaInputs {
  Tensor q, k, v, strength, rate;
  std::vector<Tensor> list() const {
    std::vector<Tensor> all{q, k, v, strength};
    if (rate.size() > 0) all.push_back(rate);
    return all;
  }
};

/// Returns numbers between 0 and `largest`.
Tensor shares(const Shape& shape, double largest, std::uint64_t stream) {
  Tensor x = random_tensor(shape, stream);
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = real(largest / (1 + std::exp(-2 * double(x.data()[i]))));
  return x;
}

DeltaInputs delta_inputs(const Shape& sizes, std::size_t F, Rates rates, double strongest = 1) {
  const Shape tokens{sizes[0], sizes[1], sizes[2]}, features{sizes[0], sizes[1], sizes[2], F};
  const Shape of_rates[] = {{0}, {sizes[2]}, tokens, {sizes[2], F}, features};
  return {random_tensor(features, 1), random_tensor(features, 2), random_tensor(sizes, 3),
          shares(tokens, strongest, 4), shares(of_rates[int(rates)], 0.5, 5)};
}

/// Makes the keys of a head nearly equal: cosines of about `correlation`, and strengths of 2.
void make_hard(DeltaInputs& in, double correlation) {
  const std::size_t H = in.k.shape()[2], F = in.k.shape()[3];
  const Tensor common = random_tensor({H, F}, 11);
  const double own = std::sqrt(1 - correlation), shared = std::sqrt(correlation);
  for (std::size_t i = 0; i < in.k.size(); ++i)
    in.k.data()[i] = real(own * in.k.data()[i] + shared * common.data()[i % (H * F)]);
  std::fill_n(in.strength.data(), in.strength.size(), real(2));
}

/// Returns features of a row at unit length.
Wides unit_features(const real* x, std::size_t F, FeatureScale scale) {
  Wides u = widen(x, F);
  if (scale == FeatureScale::logarithmic) {
    const Wide top = *std::max_element(u.begin(), u.end());
    for (Wide& one : u) one = std::exp(one - top);
  }
  Wide square = 0;
  for (Wide one : u) square += one * one;
  for (Wide& one : u) one /= std::sqrt(square);
  return u;
}

/// Computes the rule by definition, token by token.
Wides recurrence(const DeltaInputs& in, FeatureScale scale) {
  const std::size_t B = in.v.shape()[0], T = in.v.shape()[1], H = in.v.shape()[2],
                    d = in.v.shape()[3], F = in.q.shape()[3];
  Wides y(in.v.size());
  for (std::size_t bh = 0; bh < B * H; ++bh) {
    Wides S(F * d);
    for (std::size_t t = 0; t < T; ++t) {
      const std::size_t row = (bh / H * T + t) * H + bh % H;
      const Wides q = unit_features(in.q.data() + row * F, F, scale);
      const Wides k = unit_features(in.k.data() + row * F, F, scale);
      const std::size_t rank = in.rate.dimension(), width = rank % 2 == 0 ? F : 1;
      const std::size_t own = (rank > 2 ? row : bh % H) * width;
      for (std::size_t f = 0; f < F && in.rate.size() > 0; ++f) {
        for (std::size_t e = 0; e < d; ++e)
          S[f * d + e] *= std::exp(-Wide(in.rate.data()[own + f * width / F]));
      }
      for (std::size_t e = 0; e < d; ++e) {
        Wide error = in.v.data()[row * d + e];
        for (std::size_t f = 0; f < F; ++f) error -= k[f] * S[f * d + e];
        for (std::size_t f = 0; f < F; ++f) {
          S[f * d + e] += k[f] * in.strength.data()[row] * error;
          y[row * d + e] += q[f] * S[f * d + e];
        }
      }
    }
  }
  return y;
}

void expect_recurrence(const DeltaInputs& in, FeatureScale scale, double limit) {
  const Wides expected = recurrence(in, scale);
  for (std::size_t chunk : chunk_sizes) {
    SCOPED_TRACE("chunk " + std::to_string(chunk));
    expect_near(value_of(delta_op(scale, chunk), in.list()), expected, limit);
  }
}

constexpr FeatureScale scales[] = {FeatureScale::linear, FeatureScale::logarithmic};
constexpr Rates all_rates[] = {Rates::none, Rates::heads, Rates::tokens, Rates::channels,
                               Rates::all};

TEST(DeltaRule, EqualsItsRecurrenceForAllLengthsAndChunks) {
  for (FeatureScale scale : scales) {
    for (Rates rates : all_rates) {
      for (std::size_t T : sequence_lengths) {
        SCOPED_TRACE("rates " + std::to_string(int(rates)) + ", T " + std::to_string(T));
        expect_recurrence(delta_inputs({2, T, 3, 5}, 7, rates), scale, is_double ? 1e-12 : 2e-5);
      }
    }
  }
}

/// Here W = T K has its largest elements: every write reverses the state.
TEST(DeltaRule, StaysRightWhereKeysAgreeAndStrengthsAreTwo) {
  for (double correlation : {0.0, 0.5, 0.9}) {
    SCOPED_TRACE("correlation " + std::to_string(correlation));
    DeltaInputs in = delta_inputs({1, 130, 2, 8}, 64, Rates::none);
    make_hard(in, correlation);
    expect_recurrence(in, FeatureScale::linear, is_double ? 1e-12 : 1e-4);
  }
}

TEST(DeltaRule, ChunksChangeNothingButRounding) {
  DeltaInputs in = delta_inputs({2, 67, 2, 6}, 9, Rates::tokens, 2);
  make_hard(in, 0.9);
  for (FeatureScale scale : scales) {
    const auto first = value_and_gradients(delta_op(scale, 67), in.list());
    for (std::size_t chunk : chunk_sizes) {
      const auto other = value_and_gradients(delta_op(scale, chunk), in.list());
      for (std::size_t i = 0; i < first.size(); ++i) {
        SCOPED_TRACE("chunk " + std::to_string(chunk) + ", result " + std::to_string(i));
        expect_near(other[i], first[i], is_double ? 1e-10 : 1e-2);
      }
    }
  }
}

TEST(DeltaRule, GradientsEqualCentralDifferences) {
  for (FeatureScale scale : scales) {
    for (Rates rates : all_rates) {
      for (std::size_t chunk : {1, 4, 16}) {
        SCOPED_TRACE("rates " + std::to_string(int(rates)) + ", chunk " + std::to_string(chunk));
        DeltaInputs in = delta_inputs({2, 11, 3, 4}, 5, rates);
        check_op(delta_op(scale, chunk), in.list());
        make_hard(in, 0.9);
        expect_gradients(delta_op(scale, chunk), in.list());
      }
    }
  }
}

/// Uses more chunks than the backward pass holds at once.
TEST(DeltaRule, GradientsGoThroughSegments) {
  for (Rates rates : {Rates::tokens, Rates::all}) {
    const DeltaInputs in = delta_inputs({1, 200, 1, 32}, 256, rates);
    const auto many = value_and_gradients(delta_op(FeatureScale::linear, 8), in.list());
    const auto one = value_and_gradients(delta_op(FeatureScale::linear, 200), in.list());
    for (std::size_t i = 0; i < one.size(); ++i)
      expect_near(many[i], one[i], is_double ? 1e-11 : 1e-3);
  }
}

TEST(DeltaRule, HasEqualBitsForAllThreads) {
  for (Rates rates : all_rates) {
    const DeltaInputs in = delta_inputs({3, 70, 4, 8}, 16, rates);
    expect_equal_for_all_threads(delta_op(FeatureScale::logarithmic, 16), in.list());
  }
}

TEST(DeltaRule, NeverSeesTheFutureToTheBit) {
  const DeltaInputs all = delta_inputs({2, 130, 2, 5}, 6, Rates::tokens);
  const Inputs in{all.q, all.k, all.v, zeros({0})};
  for (std::size_t chunk : chunk_sizes) {
    const Op op = [&](Tape& tape, const std::vector<Var>& x) {
      return delta_op(FeatureScale::linear, chunk)(tape,
                                                   {x[0], x[1], x[2], all.strength, all.rate});
    };
    for (std::size_t token : telling_positions(130)) {
      SCOPED_TRACE("chunk " + std::to_string(chunk) + ", token " + std::to_string(token));
      const auto run = [&](const Inputs& x) { return value_of(op, x.list()); };
      for (real change : {real(0.37), real(300)})
        EXPECT_EQ(changed_before(run, in, token, change), 0u);
      EXPECT_EQ(gradient_after(op, in, token), 0.0);
    }
  }
}

TEST(DeltaRule, PaddingIsAsIfItWereNotThere) {
  const std::vector<std::size_t> lengths = {0, 9, 20, 4};
  DeltaInputs in = delta_inputs({4, 20, 2, 3}, 5, Rates::tokens);
  const std::vector<Tensor> alone = in.list();
  for (Tensor* x : {&in.q, &in.k, &in.v, &in.strength, &in.rate}) {
    const std::size_t row = x->size() / 80;
    for (std::size_t i = 0; i < x->size(); ++i) {
      if (i / row % 20 >= lengths[i / row / 20])
        x->data()[i] = std::numeric_limits<real>::quiet_NaN();
    }
  }
  const auto padded = value_and_gradients(delta_op(FeatureScale::linear, 8, lengths), in.list());
  for (const Tensor& result : padded) {
    const std::size_t row = result.size() / 80;
    for (std::size_t i = 0; i < result.size(); ++i) {
      ASSERT_TRUE(std::isfinite(result.data()[i]));
      ASSERT_TRUE(i / row % 20 < lengths[i / row / 20] || result.data()[i] == 0);
    }
  }
  std::vector<Tensor> first;
  for (const Tensor& x : alone) first.push_back(first_tokens(x, 9));
  const Tensor short_one = value_of(delta_op(FeatureScale::linear, 8), first);
  const std::size_t row = 2 * 3;
  EXPECT_EQ(
      std::memcmp(short_one.data() + 9 * row, padded[0].data() + 20 * row, 9 * row * sizeof(real)),
      0);
}

TEST(DeltaRule, StaysRightWithHugeLogarithmsAndLongGaps) {
  for (Rates rates : {Rates::tokens, Rates::all}) {
    DeltaInputs in = delta_inputs({1, 50, 2, 4}, 5, rates);
    for (std::size_t i = 0; i < in.k.size(); ++i) {
      in.k.data()[i] += real(i / 5 % 3 == 0 ? 500 : -800);
      in.q.data()[i] -= 5000;
    }
    for (std::size_t i = 40; i < in.rate.size(); i += 37) in.rate.data()[i] = real(1e6);
    expect_recurrence(in, FeatureScale::logarithmic, is_double ? 1e-12 : 2e-3);
    const auto results = value_and_gradients(delta_op(FeatureScale::logarithmic, 16), in.list());
    for (const Tensor& x : results) {
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(std::isfinite(x.data()[i]));
    }
  }
}

/// Their squares overflow.
TEST(DeltaRule, FeaturesMayBeHuge) {
  const DeltaInputs in = delta_inputs({1, 9, 2, 3}, 4, Rates::none);
  const auto expected = value_and_gradients(delta_op(FeatureScale::linear, 4), in.list());
  DeltaInputs huge = in;
  const real factor = std::ldexp(real(1), is_double ? 600 : 83);
  for (Tensor* x : {&huge.q, &huge.k}) *x *= factor;
  auto results = value_and_gradients(delta_op(FeatureScale::linear, 4), huge.list());
  for (std::size_t i : {1, 2}) results[i] *= factor;
  for (std::size_t i = 0; i < results.size(); ++i) expect_near(results[i], expected[i]);
}

/// Returns the peak memory in bytes of a call, including its output and stored values.
std::size_t peak_of_call(const DeltaInputs& in, bool wanted) {
  Tape tape;
  std::vector<Var> inputs;
  for (const Tensor& x : in.list()) inputs.push_back(wanted ? tape.input(x) : tape.constant(x));
  tensor_pool::reset_peak();
  const std::size_t before = tensor_pool::statistics().bytes_in_use;
  const Var y = delta_op(FeatureScale::linear, 1)(tape, inputs);
  return tensor_pool::statistics().peak_bytes_in_use - before;
}

TEST(DeltaRule, KeepsAboutTheRootOfAllStatesAndOnlyForGradients) {
  const auto kept = [](std::size_t T) {
    const DeltaInputs in = delta_inputs({1, T, 1, 64}, 64, Rates::none);
    const std::size_t wanted = peak_of_call(in, true), unwanted = peak_of_call(in, false);
    return double(wanted) - double(unwanted);
  };
  const double state = 64 * 64 * sizeof(real), few = kept(1024), many = kept(16384);
  EXPECT_GE(few, 25 * state);
  EXPECT_LE(many, 5.5 * few);
}

TEST(DeltaRule, FeaturesThatVanishNeitherWriteNorRead) {
  DeltaInputs in = delta_inputs({1, 6, 1, 3}, 4, Rates::none);
  std::fill_n(in.k.data() + 8, 4, real(0));
  std::fill_n(in.q.data() + 12, 4, real(0));
  const auto results = value_and_gradients(delta_op(FeatureScale::linear, 4), in.list());
  for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(results[0].data()[9 + e], 0);
  for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(results[3].data()[6 + e], 0);
  for (const Tensor& x : results) {
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(std::isfinite(x.data()[i]));
  }
}

/// Reverses the tokens before `length`, (1, T, ..).
Tensor reversed(const Tensor& x, std::size_t length) {
  Tensor y = x;
  const std::size_t row = x.size() / x.shape()[1];
  for (std::size_t t = 0; t < length; ++t)
    std::copy_n(x.data() + t * row, row, y.data() + (length - 1 - t) * row);
  return y;
}

TEST(DeltaRule, GoesTheOtherWayAsOverReversedTokens) {
  const std::size_t length = 37;
  const auto run = [&](bool reverse, const std::vector<Tensor>& inputs) {
    const Op op = [=](Tape&, const std::vector<Var>& x) {
      return delta_rule({x[0]}, {x[1]}, x[2], x[3], x[4], {8, {length}, reverse});
    };
    if (reverse) check_op(op, inputs);
    return value_of(op, inputs);
  };
  for (Rates rates : {Rates::tokens, Rates::all}) {
    const DeltaInputs in = delta_inputs({1, 41, 2, 3}, 5, rates);
    std::vector<Tensor> turned;
    for (const Tensor& x : in.list()) turned.push_back(reversed(x, length));
    expect_near(run(true, in.list()), reversed(run(false, turned), length));
  }
}

/// Plain sums could not do this: a key recalls the last value written under it.
TEST(DeltaRule, OverwritesWhatAKeyRecalls) {
  DeltaInputs in = delta_inputs({1, 9, 1, 3}, 4, Rates::none);
  std::fill_n(in.strength.data(), 9, real(1));
  std::copy_n(in.k.data() + 2 * 4, 4, in.k.data() + 8 * 4);
  std::copy_n(in.k.data() + 2 * 4, 4, in.q.data() + 8 * 4);
  const Tensor y = value_of(delta_op(FeatureScale::linear, 4), in.list());
  for (std::size_t e = 0; e < 3; ++e)
    EXPECT_NEAR(y.data()[8 * 3 + e], in.v.data()[8 * 3 + e], op_check::tolerance);
}

/// Returns one head's rows (H, n) of a token.
Tensor token_of(const Tensor& x, std::size_t t) {
  Shape shape(x.shape().begin() + 2, x.shape().end());
  Tensor y = uninitialized(shape);
  std::copy_n(x.data() + t * y.size(), y.size(), y.data());
  return y;
}

TEST(DeltaRule, StepByStepEqualsTheBatch) {
  for (FeatureScale scale : scales) {
    const Rates rates = scale == FeatureScale::linear ? Rates::tokens : Rates::all;
    const DeltaInputs in = delta_inputs({1, 70, 3, 4}, 5, rates, 2);
    const Tensor batch = value_of(delta_op(scale, 16), in.list());
    DeltaRuleState state(3, 5, 4);
    for (std::size_t t = 0; t < 70; ++t) {
      const Tensor rate = token_of(in.rate, t);
      const Tensor y = delta_rule_step(state, token_of(in.q, t), token_of(in.k, t),
                                       token_of(in.v, t), token_of(in.strength, t), &rate, scale);
      expect_near(y, token_of(batch, t), is_double ? 1e-12 : 2e-5);
    }
  }
}

TEST(DeltaRule, SaysWhichShapesAreWrong) {
  const Tensor x = zeros({1, 4, 2, 3});
  EXPECT_EQ(error_of([&] {
              delta_rule(Var(x), Var(x), x, zeros({1, 4, 3}), {});
            }),
            "[delta_rule] one strength per head and token, (B, T, H): strength (1, 4, 3), k (1, 4, "
            "2, 3)");
  EXPECT_EQ(
      error_of([&] {
        delta_rule(Var(x), Var(x), x, zeros({1, 4, 2}), zeros({3}));
      }),
      "[delta_rule] one rate per head or channel, (H), (H, F), (B, T, H) or (B, T, H, F): rate "
      "(3), k (1, 4, 2, 3)");
  EXPECT_EQ(error_of([&] {
              delta_rule(Var(x), Var(x), x, zeros({1, 4, 2}), {}, {4, {5}});
            }),
            "[delta_rule] a length of 5 exceeds T of v (1, 4, 2, 3)");
}

/// When decay erases all other tokens, a query's own token does not depend on the rate.
TEST(DeltaRule, GradientsOfFastRatesAreNoRoundingErrors) {
  for (const Rates rates : {Rates::heads, Rates::channels}) {
    DeltaInputs in = delta_inputs({1, 200, 1, 8}, 8, rates);
    in.rate.fill(60);
    Parameter rate{in.rate};
    Tape tape;
    const Var y = delta_rule({Var(in.q), FeatureScale::linear}, {Var(in.k), FeatureScale::linear},
                             in.v, in.strength, tape(rate), {16, {}});
    tape.backward(y, random_tensor(y.shape(), 3));
    for (const real slope : rate.gradient()) EXPECT_NEAR(slope, 0, 1e-20) << int(rates);
  }
}

}  // namespace delta_rule_test
}  // namespace bochner::inline BOCHNER_PRECISION

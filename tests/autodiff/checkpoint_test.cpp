#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace checkpoint_test {

using op_check::vector_of;

/// Multiplies random factors of the tape, as dropout does, by a weight.
Var noisy_layer(Tape& tape, Parameter& weight, const Var& x) {
  const RandomFunction random = tape.next_random(Purpose::dropout);
  Tensor noise = uninitialized(x.shape());
  for (std::size_t i = 0; i < noise.size(); ++i) noise.data()[i] = real(random.uniform(i));
  return tanh(x * tape(weight)) * Var(noise);
}

TEST(Checkpoint, GivesEqualGradients) {
  Parameter weight(vector_of({0.5, -1, 2}));
  const auto pass = [&](bool recompute) {
    weight.zero_gradient();
    Tape tape;
    tape.seed = 5;
    const Var x = tape.input(vector_of({1, 2, 3}));
    const auto segment = [&](Tape& inner, const Var& u) {
      return noisy_layer(inner, weight, noisy_layer(inner, weight, u));
    };
    const Var y = recompute ? checkpoint(tape, segment, x) : segment(tape, x);
    const Var z = noisy_layer(tape, weight, y);
    tape.backward(sum(z));
    return std::vector<Tensor>{z.value(), gradient_of(x), weight.gradient()};
  };
  EXPECT_EQ(pass(true), pass(false));
}

TEST(Checkpoint, ReachesParametersBehindAConstant) {
  Parameter weight(vector_of({0.5}));
  Tape tape;
  const auto f = [&](Tape& inner, const Var& u) { return u * inner(weight); };
  tape.backward(checkpoint(tape, f, tape.constant(vector_of({3}))));
  EXPECT_EQ(weight.gradient(), vector_of({3}));
}

TEST(Checkpoint, NeedsAResult) {
  Tape tape;
  const auto f = [](Tape&, const Var&) { return Var(); };
  EXPECT_THAT(op_check::error_of([&] { checkpoint(tape, f, tape.input(vector_of({3}))); }),
              ::testing::StartsWith("[value] an empty Var was used"));
}

/// The recomputation would use other weights than the output did.
TEST(Checkpoint, GoesBackwardFromNoWeightsThatHaveChanged) {
  Parameter weight(vector_of({0.5}));
  Tape tape;
  const auto f = [&](Tape& inner, const Var& u) { return u * inner(weight); };
  const Var y = checkpoint(tape, f, tape.input(vector_of({3})));
  weight.assign(vector_of({1}));
  EXPECT_THAT(op_check::error_of([&] { tape.backward(y); }),
              ::testing::StartsWith("[backward] a parameter (1) changed"));
}

/// Parameters are released in the order of the backward pass, also when it recomputes.
TEST(Checkpoint, KeepsParametersAwaited) {
  struct Awaited : TapeObserver {
    std::vector<Parameter*> parameters;
    std::vector<std::string> seen;
    void went_backward(const char* op, std::size_t) override {
      std::string line = op;
      for (const Parameter* parameter : parameters) line += parameter->is_in_use() ? " 1" : " 0";
      seen.push_back(line);
    }
  };
  Parameter early(vector_of({2})), late(vector_of({3}));
  const auto f = [&](Tape& inner, const Var& u) { return exp(u * inner(early)) * inner(late); };
  const auto pass = [&](bool recompute) {
    Awaited awaited;
    awaited.parameters = {&early, &late};
    Tape tape;
    tape.observer = &awaited;
    const Var x = tape.constant(vector_of({0.5}));
    const Var y = recompute ? checkpoint(tape, f, x) : f(tape, x);
    EXPECT_TRUE(early.is_in_use() && late.is_in_use());
    const Var z = sin(y * tape(late));
    tape.backward(z);
    EXPECT_FALSE(early.is_in_use() || late.is_in_use());
    return awaited.seen;
  };
  EXPECT_THAT(pass(false),
              ::testing::ElementsAre("sin 1 1", "mul 1 1", "mul 1 0", "exp 1 0", "mul 0 0"));
  EXPECT_THAT(pass(true), ::testing::ElementsAre("sin 1 1", "mul 1 1", "mul 1 0", "exp 1 0",
                                                 "mul 0 0", "checkpoint 0 0"));
}

/// Also when no gradient reaches the output, or the output is constant.
TEST(Checkpoint, GoesBackwardFromLossesOfItsOwn) {
  for (const bool constant : {false, true}) {
    Parameter weight(vector_of({1, 2, 3}));
    Tape tape;
    const Var x = tape(weight);
    const auto segment = [&](Tape& inner, const Var& u) {
      inner.add_loss(sum(square(u)));
      return constant ? inner.constant(u.value()) : u * 2;
    };
    const Var y = checkpoint(tape, segment, x);
    tape.backward(sum(constant ? x + y : x));
    EXPECT_EQ(weight.gradient(), vector_of({3, 5, 7})) << constant;
  }
}

}  // namespace checkpoint_test
}  // namespace bochner::inline BOCHNER_PRECISION

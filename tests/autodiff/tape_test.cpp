#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <optional>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace tape_test {

using op_check::error_of;
using op_check::vector_of;

constexpr std::size_t long_chain = 100000;

Var chain(Var x) {
  for (std::size_t i = 0; i < long_chain; ++i) x = x + 1;
  return x;
}

TEST(Tape, GoesBackwardThroughALongChain) {
  Tape tape;
  const Var x = tape.input(filled({}, 0));
  const Var y = chain(x);
  EXPECT_EQ(tape.size(), long_chain);
  tape.backward(y);
  EXPECT_EQ(tape.size(), 0u);
  EXPECT_EQ(gradient_of(x).data()[0], 1);
}

TEST(Tape, DestroysALongChainWithoutRecursion) {
  Tape tape;
  chain(tape.input(filled({}, 0)));
}

TEST(Tape, MayDieBeforeTheHandlesOnALongChain) {
  Var y;
  Tape tape;
  y = chain(tape.input(filled({}, 0)));
  tape.clear();
}

TEST(Tape, FreesAnUnusedLongChainWithoutRecursion) {
  Tape tape;
  const Var x = tape.input(filled({}, 3));
  Var unused = chain(x);
  tape.backward(x * x);
  unused = Var();
  EXPECT_EQ(gradient_of(x).data()[0], 6);
}

struct Names : TapeObserver {
  std::vector<std::string> forward, backward;
  std::vector<std::size_t> moved, moved_back;
  void recorded(const char* op, std::size_t bytes) override {
    forward.push_back(op);
    moved.push_back(bytes);
  }
  void went_backward(const char* op, std::size_t bytes) override {
    backward.push_back(op);
    moved_back.push_back(bytes);
  }
};

TEST(Tape, GoesBackwardInTheReverseOrderAndSkipsUnusedBranches) {
  Names names;
  Tape tape;
  tape.observer = &names;
  const Var x = tape.input(vector_of({1, 2}));
  const Var y = exp(x);
  const Var unused = sin(y);
  const Var z = sum(square(y));
  tape.backward(z);
  EXPECT_THAT(names.forward, ::testing::ElementsAre("exp", "sin", "square", "sum"));
  EXPECT_THAT(names.backward, ::testing::ElementsAre("sum", "square", "exp"));
  EXPECT_THAT(names.moved, ::testing::ElementsAre(4 * sizeof(real), 4 * sizeof(real),
                                                  4 * sizeof(real), 3 * sizeof(real)));
  EXPECT_THAT(names.moved_back,
              ::testing::ElementsAre(3 * sizeof(real), 4 * sizeof(real), 4 * sizeof(real)));
}

TEST(Tape, CountsGradientsTwiceWhereTheyAreAdded) {
  Names names;
  Tape tape;
  tape.observer = &names;
  const Var x = tape.input(vector_of({1, 2}));
  const Var a = exp(x), b = sin(x);
  tape.backward(sum(a + b));
  EXPECT_THAT(names.backward, ::testing::ElementsAre("sum", "add", "sin", "exp"));
  EXPECT_THAT(names.moved_back, ::testing::ElementsAre(3 * sizeof(real), 6 * sizeof(real),
                                                       4 * sizeof(real), 6 * sizeof(real)));
}

/// Includes the ops of a recomputed segment.
TEST(Tape, ShowsTheOpsOfASegmentToItsObserver) {
  Names names;
  Tape tape;
  tape.observer = &names;
  const Var x = tape.input(vector_of({1, 2}));
  tape.backward(sum(checkpoint(
      tape, [](Tape&, const Var& y) { return exp(y); }, x)));
  EXPECT_THAT(names.forward, ::testing::ElementsAre("exp", "checkpoint", "sum", "exp"));
  EXPECT_THAT(names.backward, ::testing::ElementsAre("sum", "exp", "checkpoint"));
}

TEST(Tape, AddsGradientsFromAllUses) {
  Tape tape;
  const Var x = tape.input(filled({}, 3));
  const Var y = x * x;
  tape.backward(y + y * x);
  EXPECT_EQ(gradient_of(x).data()[0], 6 + 27);
}

TEST(Tape, ConstantsReceiveNothingAndAreNotRecorded) {
  Tape tape;
  const Var constant = tape.constant(vector_of({1, 2}));
  const Var y = exp(constant) + Var(vector_of({3, 4}));
  EXPECT_FALSE(y.needs_gradient());
  EXPECT_EQ(y.tape(), &tape);
  EXPECT_EQ(tape.size(), 0u);
  EXPECT_THROW(tape.backward(sum(y)), std::invalid_argument);
  EXPECT_THROW(gradient_of(constant), std::invalid_argument);
  const Var x = tape.input(vector_of({1, 2}));
  tape.backward(sum(x * constant));
  EXPECT_EQ(gradient_of(x), vector_of({1, 2}));
}

TEST(Tape, RecordsNothingOfFixedParametersAlone) {
  Parameter fixed(vector_of({1, 2})), trained(vector_of({3, 4}));
  fixed.set_trained(false);
  Tape tape;
  const Var scale = exp(tape(fixed));
  const Var y = sum(checkpoint(
      tape, [&](Tape& inner, const Var& u) { return u * inner(fixed); }, scale));
  EXPECT_EQ(tape.size(), 0u);
  tape.backward(y + sum(tape(trained) * scale));
  EXPECT_EQ(trained.gradient(), scale.value());
  EXPECT_FALSE(fixed.has_gradient());
  const Var z = sum(tape(trained) * tape(fixed));
  fixed.mark_changed();
  EXPECT_THROW(tape.backward(z), std::invalid_argument);
}

TEST(Tape, CollectsTheMeansOfWhatIsReported) {
  Reports reports;
  Tape tape;
  report(tape, "nowhere", 1);
  tape.reports = &reports;
  report(tape, "gate.open", 1);
  report(tape, "gate.open", 2);
  EXPECT_EQ(reports.means.size(), 1u);
  EXPECT_EQ(reports.means["gate.open"].sum, 3);
  EXPECT_EQ(reports.means["gate.open"].count, 2);
  EXPECT_THROW(report(tape, "two words", 1), std::invalid_argument);
}

TEST(Tape, RecordsNothingWhenNotAskedTo) {
  Tape tape({.recording = false});
  Parameter weight(vector_of({1, 2}));
  EXPECT_FALSE(exp(tape(weight)).needs_gradient());
  EXPECT_EQ(tape.size(), 0u);
}

template <class T>
concept HasData = requires(T x) {
  std::forward<T>(x).data();
};

TEST(Var, OfATemporaryGivesCopies) {
  static_assert(std::is_same_v<decltype(std::declval<Var&>().value()), const Tensor&>);
  static_assert(std::is_same_v<decltype(std::declval<Var>().value()), Tensor>);
  static_assert(std::is_same_v<decltype(std::declval<Var>().shape()), Shape>);
  static_assert(HasData<Var&> && !HasData<Var>);
  double total = 0;
  for (const real u : (Var(filled({1000}, 1)) + 1).value()) total += double(u);
  EXPECT_EQ(total, 2000);
}

TEST(Tape, LeafThatNothingReachesHasAGradientOfZeros) {
  Tape tape;
  const Var x = tape.input(vector_of({1, 2})), other = tape.input(vector_of({1}));
  tape.backward(sum(x));
  EXPECT_EQ(gradient_of(other), vector_of({0}));
}

TEST(Tape, ParameterGradientsSurviveAndAccumulateOverTapes) {
  Parameter weight(vector_of({1, 2}));
  EXPECT_FALSE(weight.has_gradient());
  for (int pass = 0; pass < 2; ++pass) {
    Tape tape;
    tape.backward(sum(square(tape(weight))));
  }
  EXPECT_EQ(weight.gradient(), vector_of({4, 8}));
  weight.zero_gradient();
  EXPECT_FALSE(weight.has_gradient());
}

TEST(AddGradient, MovesATemporaryOfTheRightShape) {
  Tape tape;
  const Var x = tape.input(vector_of({1, 2}));
  Tensor contribution = vector_of({3, 4});
  const real* memory = contribution.data();
  x.add_gradient(std::move(contribution));
  EXPECT_EQ(x.gradient_buffer().data(), memory);
  x.add_gradient(vector_of({1, 1}));
  EXPECT_EQ(gradient_of(x), vector_of({4, 5}));
}

TEST(AddGradient, TakesExpressionsAndSumsThemDown) {
  Tape tape;
  const Var x = tape.input(vector_of({1, 2}));
  const Tensor g = Tensor{{1, 2}, {3, 4}};
  x.add_gradient(g * real(2));
  EXPECT_EQ(gradient_of(x), vector_of({8, 12}));
  x.add_gradient(-vector_of({1, 1}));
  EXPECT_EQ(gradient_of(x), vector_of({7, 11}));
}

TEST(Tape, ErrorsNameBothShapes) {
  Tape tape;
  const Var x = tape.input(vector_of({1, 2}));
  EXPECT_EQ(error_of([&] {
              tape.backward(x, vector_of({1, 2, 3}));
            }),
            "[backward] gradient (3), output (2)");
  Tape other;
  EXPECT_THROW(x + other.input(vector_of({1, 2})), std::invalid_argument);
}

TEST(Tape, GoesBackwardOnce) {
  Tape tape;
  const Var x = tape.input(vector_of({3})), a = square(x), b = x * 5;
  tape.backward(a);
  EXPECT_EQ(gradient_of(x).data()[0], 6);
  for (const Var& again : {a, b})
    EXPECT_THAT(error_of([&] { tape.backward(again); }),
                testing::StartsWith("[backward] the output was already freed"));
  tape.backward(x * 2);
  EXPECT_EQ(gradient_of(x).data()[0], 8);
}

TEST(Tape, TakesNoResultWhosePassIsOver) {
  const auto expect_refused = [](const Var& y) {
    EXPECT_THAT(error_of([&] { sum(y * y); }),
                testing::StartsWith("[record] the pass of exp (1) is over"));
  };
  Parameter weight(vector_of({2}));
  std::optional<Tape> tape(std::in_place);
  Var y = exp((*tape)(weight));
  tape->backward(y);
  expect_refused(y);
  EXPECT_THAT(error_of([&] {
                checkpoint(
                    *tape, [](Tape&, const Var& x) { return x; }, y);
              }),
              testing::StartsWith("[record] the pass of exp (1) is over"));
  EXPECT_EQ(error_of([&] { tape->add_loss(y); }), "[add_loss] the loss belongs to a finished pass");
  y = exp((*tape)(weight));
  tape->clear();
  expect_refused(y);
  EXPECT_THAT(
      error_of([&] { tape->backward(y); }),
      testing::StartsWith("[backward] the output was already freed by backward() or clear()"));
  y = exp((*tape)(weight));
  tape.emplace();  // at the address of the previous one
  expect_refused(y);
  EXPECT_THROW(tape->backward(y), std::invalid_argument);
  weight.zero_gradient();
  tape->backward(Var(y.value()) * (*tape)(weight));
  EXPECT_EQ(weight.gradient(), y.value());
}

TEST(Tape, IsOutlivedByItsConstants) {
  const auto predict = [] {
    Tape tape({.recording = false});
    return exp(tape.constant(vector_of({0})));
  };
  const Var y = predict();
  EXPECT_EQ(y.tape(), nullptr);
  EXPECT_EQ((y + y).value(), vector_of({2}));
  Tape tape;  // may be at the address of the other one
  EXPECT_EQ((y + tape.input(vector_of({2}))).value(), vector_of({3}));
  Parameter weight(vector_of({1}));
  const Var handle = [&] { return Tape()(weight); }();
  EXPECT_THAT(error_of([&] { exp(handle); }),
              testing::StartsWith("[record] the pass of parameter (1) is over"));
}

/// Partial sums of gradients are useless.
TEST(Tape, IsClearedByAnExceptionInItsPass) {
  Parameter weight(vector_of({1, 2}));
  Tape tape;
  const Var a = exp(tape(weight));
  const Var broken =
      record("broken", Tensor(a.value()), {a}, [](Tensor&) { throw std::runtime_error("broken"); });
  EXPECT_EQ(error_of<std::runtime_error>([&] { tape.backward(sum(broken) + sum(a)); }), "broken");
  EXPECT_EQ(tape.size(), 0u);
  EXPECT_FALSE(weight.is_in_use());
  EXPECT_THROW(sum(a), std::invalid_argument);
  tape.backward(sum(tape(weight) * 2));
  EXPECT_EQ(weight.gradient(), vector_of({2, 2}));
}

TEST(Tape, RefusesWhatNoVisitNamesWhereItIsAskedTo) {
  Parameter named({2}), forgotten({2, 3});
  const ParameterSet visited = set_of({{"named", &named}});
  Tape tape;
  EXPECT_NO_THROW(tape(forgotten));
  tape.visited = &visited;
  EXPECT_NO_THROW(tape(named));
  EXPECT_EQ(error_of([&] { tape(forgotten); }),
            "[tape] a parameter (2, 3) is not named by any visit(), so it would be neither trained "
            "nor saved; add it to the visit() of its module");
}

TEST(CheckFinite, NamesTheOpOfANanValue) {
  Tape tape;
  tape.check_finite = true;
  const Var x = tape.input(vector_of({1, -1}));
  EXPECT_EQ(error_of<NonFiniteError>([&] { exp(log(x)); }),
            "the value of op log (2) is not finite: nan at element (1)");
  EXPECT_EQ(error_of<NonFiniteError>([&] { log(tape.constant(vector_of({-1}))); }),
            "the value of op log (1) is not finite: nan at element (0)");
}

TEST(CheckFinite, NamesTheOpOfANanGradient) {
  Tape tape;
  tape.check_finite = true;
  const Var y = sqrt(tape.input(vector_of({0})) * 2);
  EXPECT_EQ(error_of<NonFiniteError>([&] { tape.backward(sum(y)); }),
            "the gradient of the output of op scale (1) is not finite: inf at element (0)");
}

/// A leaf has no op that would receive its gradient.
TEST(CheckFinite, NamesTheOpOfANanGradientOfALeaf) {
  Parameter weight(vector_of({0, 1}));
  Tape tape;
  tape.check_finite = true;
  const Var root = sqrt(tape(weight));
  EXPECT_EQ(
      error_of<NonFiniteError>([&] { tape.backward(sum(root)); }),
      "the gradient for a parameter or an input of op sqrt (2) is not finite: inf at element (0)");
}

TEST(Var, WithoutAValueSaysSo) {
  const std::string problem =
      "[value] an empty Var was used: an omitted argument or an unassigned result";
  EXPECT_EQ(error_of([] { Var().shape(); }), problem);
  EXPECT_EQ(error_of([] { exp(Var()); }), problem);
  EXPECT_EQ(error_of([] { Var() + vector_of({1}); }), problem);
  Tape tape;
  const Var x = tape.input(vector_of({1}));
  EXPECT_EQ(error_of([&] { x.gradient_only().value(); }),
            "[value] gradient_only() has no value; capture the Var itself if the backward pass "
            "needs its value");
}

TEST(Var, TakesNoGradientOfAnotherShape) {
  Tape tape;
  const Var x = tape.input(zeros({2, 3}));
  for (const Shape& shape : {Shape{3, 2}, Shape{6}, Shape{2}, Shape{4, 2, 1}})
    EXPECT_EQ(error_of([&] { x.add_gradient(zeros(shape)); }),
              "[gradient] a contribution " + to_string(shape) +
                  " does not reduce to (2, 3), the shape of its value");
  x.add_gradient(filled({4, 2, 3}, 1));
  EXPECT_EQ(gradient_of(x), filled({2, 3}, 4));
}

TEST(Tape, AddsTheGradientsOfLayersOwnLosses) {
  Parameter weight(vector_of({0.5, -1})), other(vector_of({2, 3}));
  const auto layer = [&](Tape& tape, const Var& u) {
    tape.add_loss(sum(square(tape(other) * u)));
    return u * tape(weight);
  };
  for (const bool recompute : {false, true}) {
    weight.zero_gradient(), other.zero_gradient();
    Tape tape;
    tape.share = 0.5;
    const Var x = tape.constant(vector_of({1, 2}));
    tape.backward(sum(recompute ? checkpoint(tape, layer, x) : layer(tape, x)));
    EXPECT_EQ(weight.gradient(), vector_of({1, 2}));
    EXPECT_EQ(other.gradient(), vector_of({2, 12}));  // half of 2 x^2 other
  }
  Tape quiet({.recording = false});
  layer(quiet, quiet.constant(vector_of({1, 2})));
  EXPECT_THAT(error_of([&] {
                quiet.add_loss(quiet.constant(vector_of({1, 2})));
              }),
              testing::HasSubstr("the loss must have one element"));
}

TEST(Pool, NothingIsRequestedFromTheThirdPassOn) {
  Parameter weight(filled({300, 7}, real(0.5)));
  const auto pass = [&] {
    Tape tape;
    const Var x = tape.constant(filled({5, 300, 7}, 1));
    weight.zero_gradient();
    tape.backward(mean(tanh(x * tape(weight)) - max(x, {-1}, keep)));
  };
  pass();
  pass();
  const auto before = tensor_pool::statistics().blocks_requested;
  for (int repetition = 0; repetition < 3; ++repetition) pass();
  EXPECT_EQ(tensor_pool::statistics().blocks_requested, before);
}

}  // namespace tape_test
}  // namespace bochner::inline BOCHNER_PRECISION

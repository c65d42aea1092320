#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <functional>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace changed_weights_test {

using op_check::error_of;
using op_check::vector_of;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Closures read the current weights and would run past their ends.
TEST(Tape, GoesBackwardFromNoWeightsThatHaveChanged) {
  const Tensor other = vector_of({3, 4, 5});
  for (const auto& change : std::vector<std::function<void(Parameter&)>>{
           [](Parameter& weight) {
             weight.assign(vector_of({3, 4}));
           },
           [&](Parameter& weight) { weight.assign(other); }, &Parameter::mark_changed}) {
    Parameter weight(vector_of({1, 2}));
    Tape tape;
    const Var handle = tape(weight), y = sum(square(handle));
    change(weight);
    EXPECT_THAT(error_of([&] { tape.backward(y); }),
                testing::StartsWith("[backward] a parameter " + to_string(weight.shape()) +
                                    " changed after this pass used it"));
    EXPECT_FALSE(weight.has_gradient());
    tape.clear();
    tape.backward(sum(square(handle)));
    EXPECT_EQ(weight.gradient(), Tensor(weight.value() * real(2)));
  }
}

/// Finished passes, passes without a pending backward, and constants do not hold parameters.
TEST(Tape, LetsWeightsChangeBetweenPasses) {
  Parameter weight(vector_of({1, 2}));
  Tape evaluation({.recording = false}), dropped, tape;
  const Var known = exp(evaluation(weight)), unused = exp(dropped(weight)), handle = tape(weight);
  for (int step = 0; step < 3; ++step) {
    weight.assign(vector_of({real(step), 2}));
    for (int part = 0; part < 2; ++part) tape.backward(sum(square(handle)));
    EXPECT_EQ(weight.gradient(), vector_of({real(4 * step), 8}));
  }
  EXPECT_NO_THROW(exp(known) + exp(evaluation(weight)));
}

TEST(Tape, RefusesParametersWithoutTheirInitialValues) {
  Parameter weight({2, 3}, Initial::normal(1)), gain({2});
  const auto use = [](Parameter& parameter, bool training = true) {
    Tape tape({.training = training});
    tape(parameter);
  };
  EXPECT_THAT([&] { use(weight); }, ThrowsMessage<std::invalid_argument>(
                                        HasSubstr("all zeros in training; call initialize")));
  EXPECT_NO_THROW(use(weight, false));
  EXPECT_NO_THROW(use(gain));
  weight.value()(1, 2) = 1;
  EXPECT_NO_THROW(use(weight));
  weight.value().fill(0);
  EXPECT_NO_THROW(use(weight));
}

TEST(Tape, RefusesAValueOfAnotherShape) {
  Parameter weight({2, 3});
  weight.value() = filled({4}, real(1));
  Tape tape;
  EXPECT_THAT([&] { tape(weight); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("replace it by assign()")));
  weight.assign(filled({4}, real(1)));
  EXPECT_EQ(tape(weight).shape(), (Shape{4}));
}

static_assert(!std::is_constructible_v<Axes, double>, "max(x, 0.0) is not over axis 0");

}  // namespace changed_weights_test
}  // namespace bochner::inline BOCHNER_PRECISION

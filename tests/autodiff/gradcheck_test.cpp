#include <gtest/gtest.h>

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/gradcheck.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace gradcheck_test {

using Inputs = std::vector<Var>;
using Function = std::function<Var(Tape&, const Inputs&)>;

Tensor values(const Shape& shape, std::uint64_t stream) {
  const RandomFunction random{11, Purpose::test, stream};
  Tensor x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(0.5 + random.uniform(i));
  return x;
}

GradientOptions options() {
  GradientOptions options;
  if (std::is_same_v<real, float>) options.tolerance = 2e-2;
  return options;
}

Tensor times(const Tensor& a, const Tensor& b) { return Tensor(a * b); }

/// Records a product whose gradient of b is computed by `backward_b` from (gradient, a, b).
Var product_with(const Var& a, const Var& b,
                 std::function<void(const Tensor&, const Var&, const Var&)> backward_b) {
  return record("product", times(a.value(), b.value()), {a, b},
                [a, b, backward_b](Tensor& gradient) {
                  a.add_gradient(times(gradient, b.value()));
                  backward_b(gradient, a, b);
                });
}

void expect_failure_at_b(const Function& f, const Shape& shape_a, const Shape& shape_b) {
  const GradientReport report =
      check_gradient(f, {values(shape_a, 1), values(shape_b, 2)}, options());
  EXPECT_FALSE(report.passed);
  EXPECT_TRUE(report.worst_element.starts_with("x1[")) << report.summary();
  EXPECT_NE(report.summary().find("at x1["), std::string::npos) << report.summary();
}

TEST(CheckGradient, AcceptsTheRightGradient) {
  const auto f = [](Tape&, const Inputs& x) {
    return product_with(x[0], x[1], [](const Tensor& g, const Var& a, const Var& b) {
      b.add_gradient(times(g, a.value()));
    });
  };
  const GradientReport report = check_gradient(f, {values({3, 4}, 1), values({4}, 2)}, options());
  EXPECT_TRUE(report.passed) << report.summary();
  EXPECT_EQ(report.inputs, 2u);
  EXPECT_EQ(report.checked, 16u);
  EXPECT_TRUE(report.summary().starts_with("2 inputs, 16 elements, worst ")) << report.summary();
}

TEST(CheckGradient, FindsAWrongSign) {
  expect_failure_at_b(
      [](Tape&, const Inputs& x) {
        return product_with(x[0], x[1], [](const Tensor& g, const Var& a, const Var& b) {
          b.add_gradient(-(g * a.value()));
        });
      },
      {3, 4}, {3, 4});
}

TEST(CheckGradient, FindsAMissingFactor) {
  expect_failure_at_b(
      [](Tape&, const Inputs& x) {
        return product_with(x[0], x[1],
                            [](const Tensor& g, const Var&, const Var& b) { b.add_gradient(g); });
      },
      {3, 4}, {3, 4});
}

TEST(CheckGradient, FindsAGradientThatIsAssigned) {
  expect_failure_at_b(
      [](Tape&, const Inputs& x) {
        const Var wrong = product_with(x[0], x[1], [](const Tensor& g, const Var& a, const Var& b) {
          b.gradient_buffer() = times(g, a.value());
        });
        return wrong + x[1];  // contributes first in the backward pass, and is overwritten
      },
      {3, 4}, {3, 4});
}

TEST(CheckGradient, FindsAForgottenBroadcastSum) {
  expect_failure_at_b(
      [](Tape&, const Inputs& x) {
        return product_with(x[0], x[1], [](const Tensor& g, const Var& a, const Var& b) {
          const Tensor full = times(g, a.value());
          Tensor first_row = uninitialized(b.shape());
          std::copy_n(full.data(), first_row.size(), first_row.data());
          b.add_gradient(std::move(first_row));
        });
      },
      {3, 4}, {4});
}

TEST(CheckGradient, FindsOneWrongElement) {
  const auto f = [](Tape&, const Inputs& x) {
    return product_with(x[0], x[1], [](const Tensor& g, const Var& a, const Var& b) {
      Tensor contribution = times(g, a.value());
      contribution.data()[7] *= real(1.1);
      b.add_gradient(std::move(contribution));
    });
  };
  expect_failure_at_b(f, {3, 4}, {3, 4});
  EXPECT_EQ(check_gradient(f, {values({3, 4}, 1), values({3, 4}, 2)}, options()).worst_element,
            "x1[7]");
}

TEST(CheckGradient, FindsNan) {
  expect_failure_at_b(
      [](Tape&, const Inputs& x) {
        return product_with(x[0], x[1], [](const Tensor&, const Var&, const Var& b) {
          b.add_gradient(filled(b.shape(), real(std::nan(""))));
        });
      },
      {2}, {2});
}

TEST(CheckGradient, SamplesLargeInputs) {
  GradientOptions sampled = options();
  sampled.elements_per_input = 10;
  const auto f = [](Tape&, const Inputs& x) { return x[0] * x[0]; };
  const GradientReport report = check_gradient(f, {values({50, 40}, 1)}, sampled);
  EXPECT_TRUE(report.passed) << report.summary();
  EXPECT_EQ(report.checked, 10u);
}

TEST(CheckGradient, SeesTheSameRandomNumbersInEveryEvaluation) {
  const auto f = [](Tape& tape, const Inputs& x) {
    const RandomFunction random = tape.next_random(Purpose::dropout);
    Tensor noise = uninitialized(x[0].shape());
    for (std::size_t i = 0; i < noise.size(); ++i) noise.data()[i] = real(random.normal(i));
    return x[0] * Var(noise);
  };
  const GradientReport report = check_gradient(f, {values({5}, 1)}, options());
  EXPECT_TRUE(report.passed) << report.summary();
}

TEST(CheckGradient, ReportsAnInputThatReachesNothing) {
  const auto constant = [](Tape&, const Inputs& x) { return Var(x[1].value()); };
  expect_failure_at_b(constant, {2}, {2});
}

TEST(CheckGradient, ChecksParametersAndLeavesThemAsTheyWere) {
  Parameter weight(values({3}, 1)), log_scale(values({}, 2));
  const Tensor before = weight.value();
  const std::vector<NamedParameter> parameters = {{"weight", &weight}, {"log_scale", &log_scale}};
  const auto right = [&](Tape& tape) { return tape(weight) * exp(tape(log_scale)); };
  for (const bool old : {false, true}) {
    Tape tape;
    if (old) tape.backward(sum(tape(weight)));
    const GradientReport report = check_gradient(right, parameters, options());
    EXPECT_TRUE(report.passed) << report.summary();
    EXPECT_EQ(report.checked, 4u);
    EXPECT_FALSE(weight.has_gradient() || log_scale.has_gradient());
  }
  const auto wrong = [&](Tape& tape) {
    const Var s = tape(log_scale);
    return tape(weight) * record("exp", Tensor(xt::exp(s.value())), {s},
                                 [s](Tensor& gradient) { s.add_gradient(gradient); });
  };
  const GradientReport report = check_gradient(wrong, parameters, options());
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.worst_element, "log_scale[0]");
  EXPECT_EQ(weight.value(), before);
}

TEST(CheckGradient, RestoresParametersWhenTheFunctionThrows) {
  Parameter weight(values({3}, 1));
  const Tensor before = weight.value();
  int evaluations = 0;
  const auto f = [&](Tape& tape) {
    if (++evaluations == 3) throw std::runtime_error("stop");
    return square(tape(weight));
  };
  EXPECT_THROW(check_gradient(f, {{"weight", &weight}}, options()), std::runtime_error);
  EXPECT_FALSE(weight.has_gradient());
  EXPECT_EQ(weight.value(), before);
}

}  // namespace gradcheck_test
}  // namespace bochner::inline BOCHNER_PRECISION

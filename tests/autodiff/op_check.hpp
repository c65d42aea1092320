#pragma once
/// Checks for every op, on rows of the op table or custom inputs: gradients by central differences,
/// accumulation of contributions, equal bits for any number of threads.

#include <gtest/gtest.h>

#include <autodiff/same_bits.hpp>
#include <bochner/autodiff/gradcheck.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace op_check {

inline constexpr bool is_double = sizeof(real) == 8;
/// Of values against a reference in double.
inline constexpr double tolerance = is_double ? 1e-12 : 2e-5;

using Op = std::function<Var(Tape&, const std::vector<Var>&)>;

inline Tensor vector_of(std::initializer_list<double> values) {
  Tensor x = uninitialized({values.size()});
  std::transform(values.begin(), values.end(), x.data(), [](double v) { return real(v); });
  return x;
}

inline Tensor random_tensor(const Shape& shape, std::uint64_t stream) {
  const RandomFunction random{7, Purpose::test, stream};
  Tensor x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(random.normal(i));
  return x;
}

inline void expect_equal_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(to_string(a.shape()), to_string(b.shape()));
  EXPECT_TRUE(same_bits(a, b));
}

inline void expect_near(const Tensor& a, const Tensor& b, double limit = tolerance) {
  ASSERT_EQ(to_string(a.shape()), to_string(b.shape()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    if (x == y) continue;  // infinities too
    ASSERT_NEAR(x, y, limit * std::max(1.0, std::abs(y))) << "element " << i;
  }
}

inline Tensor value_of(const Op& op, const std::vector<Tensor>& inputs) {
  Tape tape({.recording = false});
  std::vector<Var> constants;
  for (const Tensor& input : inputs) constants.push_back(tape.constant(input));
  return op(tape, constants).value();
}

/// Returns the output, then each input's gradient for a fixed random cotangent. With `prior`,
/// inputs start with nonzero gradients.
inline std::vector<Tensor> value_and_gradients(const Op& op, const std::vector<Tensor>& inputs,
                                               bool prior = false) {
  Tape tape;
  std::vector<Var> leaves;
  for (const Tensor& input : inputs) {
    leaves.push_back(tape.input(input));
    if (prior) leaves.back().add_gradient(random_tensor(input.shape(), 98));
  }
  const Var y = op(tape, leaves);
  std::vector<Tensor> results{y.value()};
  tape.backward(y, random_tensor(y.shape(), 99));
  for (const Var& leaf : leaves) results.push_back(gradient_of(leaf));
  return results;
}

/// Compares with central differences, coarsely in float.
inline void expect_gradients(const Op& op, const std::vector<Tensor>& inputs,
                             std::size_t elements_per_input = 200) {
  GradientOptions options;
  options.elements_per_input = elements_per_input;
  if (!is_double) {
    options.tolerance = 2e-2;
    options.floor = 0.2;
  }
  const GradientReport report = check_gradient(op, inputs, options);
  EXPECT_TRUE(report.passed) << report.summary();
}

inline void expect_gradients_add_up(const Op& op, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> alone = value_and_gradients(op, inputs);
  const std::vector<Tensor> added = value_and_gradients(op, inputs, true);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Tensor sum = alone[k + 1] + random_tensor(inputs[k].shape(), 98);
    expect_near(added[k + 1], sum, 10 * tolerance);
  }
}

inline void expect_equal_bits_for_threads(const Op& op, const std::vector<Tensor>& inputs,
                                          std::initializer_list<std::size_t> counts = {2, 3}) {
  set_thread_count(1);
  const std::vector<Tensor> one = value_and_gradients(op, inputs);
  for (std::size_t count : counts) {
    SCOPED_TRACE(std::to_string(count) + " threads");
    set_thread_count(count);
    const std::vector<Tensor> many = value_and_gradients(op, inputs);
    for (std::size_t i = 0; i < one.size(); ++i) {
      SCOPED_TRACE(i == 0 ? "value" : "gradient of input " + std::to_string(i - 1));
      expect_equal_bits(many[i], one[i]);
    }
  }
  set_thread_count(0);
}

inline void check_op(const Op& op, const std::vector<Tensor>& inputs) {
  expect_gradients(op, inputs);
  expect_gradients_add_up(op, inputs);
  expect_equal_bits_for_threads(op, inputs);
}

/// Returns the message of the Error that `call` throws.
template <class Error = std::invalid_argument>
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace op_check
}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// What every op must pass: gradients by central differences, contributions that add up, equal bits
/// for any number of threads.

#include <gtest/gtest.h>

#include <autodiff/same_bits.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace op_check {

inline constexpr bool is_double = sizeof(real) == 8;
/// Of values against a reference in double.
inline constexpr double tolerance = is_double ? 1e-12 : 2e-5;

using Op = std::function<Var(Tape&, const std::vector<Var>&)>;

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
    ASSERT_NEAR(x, y, limit * std::max(1.0, std::abs(y))) << "element " << i;
  }
}

inline Tensor value_of(const Op& op, const std::vector<Tensor>& inputs) {
  Tape tape;
  tape.recording = false;
  std::vector<Var> constants;
  for (const Tensor& input : inputs) constants.push_back(tape.constant(input));
  return op(tape, constants).value();
}

/// The output, then the gradient of each input for a fixed random cotangent. With `prior`, the
/// inputs' gradients hold numbers already.
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

inline void check_gradients(const Op& op, const std::vector<Tensor>& inputs,
                            const std::vector<Tensor>& results) {
  const double step = is_double ? 1e-5 : 1e-2, limit = is_double ? 1e-7 : 3e-2;
  const Tensor cotangent = random_tensor(results[0].shape(), 99);
  const auto product = [&](const std::vector<Tensor>& at) {
    const Tensor y = value_of(op, at);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      sum += double(y.data()[i]) * double(cotangent.data()[i]);
    return sum;
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::size_t stride = inputs[k].size() / 40 + 1;
    for (std::size_t i = 0; i < inputs[k].size(); i += stride) {
      std::vector<Tensor> above = inputs, below = inputs;
      above[k].data()[i] += real(step);
      below[k].data()[i] -= real(step);
      const double width = double(above[k].data()[i]) - double(below[k].data()[i]);
      const double numeric = (product(above) - product(below)) / width;
      ASSERT_NEAR(results[k + 1].data()[i], numeric, limit * std::max(1.0, std::abs(numeric)))
          << "input " << k << ", element " << i;
    }
  }
}

inline void check_op(const Op& op, const std::vector<Tensor>& inputs) {
  set_thread_count(1);
  const std::vector<Tensor> results = value_and_gradients(op, inputs);
  check_gradients(op, inputs, results);
  const std::vector<Tensor> added = value_and_gradients(op, inputs, true);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Tensor sum = results[k + 1] + random_tensor(inputs[k].shape(), 98);
    expect_near(added[k + 1], sum, 10 * tolerance);
  }
  for (std::size_t threads : {2, 3}) {
    set_thread_count(threads);
    const std::vector<Tensor> again = value_and_gradients(op, inputs);
    for (std::size_t k = 0; k < results.size(); ++k) expect_equal_bits(again[k], results[k]);
  }
  set_thread_count(0);
}

/// The message of the std::invalid_argument that `call` throws.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace op_check
}  // namespace bochner::inline BOCHNER_PRECISION

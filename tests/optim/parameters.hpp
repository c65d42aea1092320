#pragma once
/// Parameters with given values and gradients, for tests.

#include <bochner/autodiff/tape.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <deque>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct NamedShape {
  std::string name;
  Shape shape;
};

/// Owns parameters as a model would.
class TestParameters {
 public:
  explicit TestParameters(const std::vector<NamedShape>& shapes) {
    for (const auto& [name, shape] : shapes) named_.push_back({name, &owned_.emplace_back(shape)});
  }
  const std::vector<NamedParameter>& named() const { return named_; }
  Parameter& operator[](std::size_t index) { return owned_[index]; }
  std::size_t size() const { return owned_.size(); }

 private:
  std::deque<Parameter> owned_;
  std::vector<NamedParameter> named_;
};

inline void add_gradient(Parameter& parameter, Tensor gradient) {
  Tape tape;
  tape(parameter).add_gradient(std::move(gradient));
}

inline Tensor normal_tensor(const Shape& shape, std::uint64_t stream) {
  const RandomFunction random{7, Purpose::test, stream};
  Tensor tensor = uninitialized(shape);
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor.data()[i] = real(random.normal(i));
  return tensor;
}

inline void set_normal(TestParameters& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i].assign(normal_tensor(parameters[i].shape(), i));
}

/// Sets gradients that depend on the step only.
inline void set_normal_gradients(TestParameters& parameters, std::uint64_t step) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].zero_gradient();
    add_gradient(parameters[i], normal_tensor(parameters[i].shape(), 1000 * (step + 1) + i));
  }
}

inline std::vector<real> all_values(TestParameters& parameters) {
  std::vector<real> values;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& value = parameters[i].value();
    values.insert(values.end(), value.data(), value.data() + value.size());
  }
  return values;
}

}  // namespace bochner::inline BOCHNER_PRECISION

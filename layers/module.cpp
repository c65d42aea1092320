#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct Collector : Visitor {
  std::vector<NamedParameter> parameters;
  std::vector<NamedTensor> buffers;
  void on_parameter(const std::string& name, Parameter& parameter) override {
    parameters.push_back({name, &parameter});
  }
  void on_buffer(const std::string& name, Tensor& buffer) override {
    buffers.push_back({name, &buffer});
  }
};

}  // namespace

void Visitor::operator()(const std::string& name, Module& module) {
  on_module(path_ + name, module);
  const std::size_t length = path_.size();
  path_ += name + ".";
  module.visit(*this);
  path_.resize(length);
}

std::vector<NamedParameter> parameters_of(Module& module) {
  Collector collector;
  module.visit(collector);
  return std::move(collector.parameters);
}

std::vector<NamedTensor> buffers_of(Module& module) {
  Collector collector;
  module.visit(collector);
  return std::move(collector.buffers);
}

std::size_t count_parameters(Module& module) {
  std::size_t count = 0;
  for (const NamedParameter& named : parameters_of(module))
    count += named.parameter->value().size();
  return count;
}

}  // namespace bochner::inline BOCHNER_PRECISION

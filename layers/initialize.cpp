#include <bochner/layers/initialize.hpp>

namespace bochner::inline BOCHNER_PRECISION {

namespace {

struct InitializedCaller : Visitor {
  void on_parameter(const std::string&, Parameter&) override {}
  void on_buffer(const std::string&, Tensor&) override {}
  void on_module(const std::string&, Module& part) override { part.initialized(); }
};

}  // namespace

void initialize(Module& module, std::uint64_t seed) {
  for (const NamedParameter& named : parameters_of(module)) {
    const Initial& initial = named.parameter->initial();
    const RandomFunction random{seed, Purpose::initialization, stream_of(named.name.c_str())};
    Tensor& value = named.parameter->value();
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (initial.kind == Initial::Kind::uniform) {
        value.data()[i] = real(initial.scale * (2 * random.uniform(i) - 1));
      } else if (initial.kind == Initial::Kind::normal) {
        value.data()[i] = real(initial.scale * random.normal(i));
      }
    }
  }
  module.initialized();
  InitializedCaller parts;
  module.visit(parts);
}

}  // namespace bochner::inline BOCHNER_PRECISION

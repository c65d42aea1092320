#include <bochner/layers/module.hpp>
#include <map>
#include <set>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct Collector : Visitor {
  std::vector<NamedParameter> parameters;
  std::vector<NamedTensor> buffers;
  std::vector<NamedPart> parts;
  void on_parameter(const std::string& name, Parameter& parameter) override {
    require_new(parameter_names, name);
    const auto [first, is_new] = names.emplace(&parameter, name);
    require(is_new, "visit", name, " is the same parameter as ", first->second, "; name it once");
    parameters.push_back({name, &parameter});
  }
  void on_buffer(const std::string& name, Tensor& buffer) override {
    require_new(buffer_names, name);
    buffers.push_back({name, &buffer});
  }
  void on_module(const std::string& name, Module& part) override { parts.push_back({name, &part}); }

 private:
  static void require_new(std::set<std::string>& names, const std::string& name) {
    require(is_valid_tensor_name(name) && name.size() <= max_visited_name_bytes &&
                name.front() != '.' && name.back() != '.',
            "visit", "invalid tensor name: '", name,
            "'; use letters, digits and ._/-, not empty between dots, at most ",
            max_visited_name_bytes);
    require(names.insert(name).second, "visit", "two tensors are named ", name,
            "; a checkpoint tells them apart by their names");
  }
  std::set<std::string> parameter_names, buffer_names;
  std::map<const Parameter*, std::string> names;
};

Collector collected(Module& module) {
  Collector collector;
  module.visit(collector);
  return collector;
}

}  // namespace

bool is_valid_tensor_name(const std::string& name) {
  constexpr const char* allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-";
  return !name.empty() && name.size() <= max_tensor_name_bytes && name.front() != '/' &&
         name.find("..") == std::string::npos &&
         name.find_first_not_of(allowed) == std::string::npos;
}

void Visitor::operator()(const std::string& name, Module& module) {
  on_module(path_ + name, module);
  const std::size_t length = path_.size();
  path_ += name + ".";
  module.visit(*this);
  path_.resize(length);
}

std::vector<NamedParameter> parameters_of(Module& module) { return collected(module).parameters; }

std::vector<NamedTensor> buffers_of(Module& module) { return collected(module).buffers; }

std::vector<NamedPart> parts_of(Module& module) { return collected(module).parts; }

std::size_t count_parameters(Module& module) {
  std::size_t count = 0;
  for (const NamedParameter& named : parameters_of(module))
    count += named.parameter->value().size();
  return count;
}

void initialize(Module& module, std::uint64_t seed) {
  const Collector all = collected(module);
  for (const NamedParameter& named : all.parameters) {
    named.parameter->mark_initialized();
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
  for (auto named = all.parts.rbegin(); named != all.parts.rend(); ++named)
    named->part->initialized();
  module.initialized();
}

}  // namespace bochner::inline BOCHNER_PRECISION

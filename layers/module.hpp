#pragma once
/// Module and Visitor find, name, initialize and save parameters.

#include <bochner/autodiff/tape.hpp>
#include <memory>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

class Visitor;

/// Base of everything with parameters. visit() passes each part to the visitor under a name;
/// initialization, optimizer groups, checkpoints, counting and finite checks all use it.
class Module {
 public:
  virtual ~Module() = default;
  virtual void visit(Visitor& visitor) = 0;
  /// Computes values from initialized parameters; called by initialize(), parts first.
  virtual void initialized() {}
};

/// Walks a module and sees dotted names such as "blocks.2.mixer.features.density.mean".
class Visitor {
 public:
  virtual ~Visitor() = default;
  void operator()(const std::string& name, Parameter& parameter) {
    on_parameter(path_ + name, parameter);
  }
  /// Visits a tensor that is saved with the model but not trained.
  void operator()(const std::string& name, Tensor& buffer) { on_buffer(path_ + name, buffer); }
  void operator()(const std::string& name, Module& module);
  template <class Part>
  void operator()(const std::string& name, std::vector<std::unique_ptr<Part>>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      (*this)(name + "." + std::to_string(i), *parts[i]);
  }

 protected:
  virtual void on_parameter(const std::string& name, Parameter& parameter) = 0;
  virtual void on_buffer(const std::string& name, Tensor& buffer) = 0;
  /// Visits a part before its own parts.
  virtual void on_module(const std::string&, Module&) {}

 private:
  std::string path_;
};

/// Returns whether a tensor may have this name in a file. A name is a label, never a path.
bool is_valid_tensor_name(const std::string& name);
inline constexpr std::size_t max_tensor_name_bytes = 256;
/// Shorter than max_tensor_name_bytes: files add prefixes such as "optimizer/adamw.second_moment/".
inline constexpr std::size_t max_visited_name_bytes = 200;

/// Returns all parameters in visiting order. Throws, as do the functions below, on a duplicate or
/// invalid name, an empty part of a name, or a parameter with two names.
std::vector<NamedParameter> parameters_of(Module& module);
std::vector<NamedTensor> buffers_of(Module& module);
/// Part of a model under its dotted name.
struct NamedPart {
  std::string name;
  Module* part;
};
/// Returns all parts in visiting order, each before its own parts.
std::vector<NamedPart> parts_of(Module& module);
std::size_t count_parameters(Module& module);

/// Draws every parameter with a random Initial. A parameter's numbers depend on the seed and its
/// name only, not on the rest of the model.
void initialize(Module& module, std::uint64_t seed);

}  // namespace bochner::inline BOCHNER_PRECISION

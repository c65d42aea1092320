#pragma once
/// Module and Visitor: how parameters are found, named, initialised and saved.

#include <bochner/autodiff/tape.hpp>
#include <memory>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

class Visitor;

/// Anything with parameters. visit() hands every part to the visitor under a name; the same visit
/// serves initialisation, optimizer groups, checkpoints, counting and finite checks.
class Module {
 public:
  virtual ~Module() = default;
  virtual void visit(Visitor& visitor) = 0;
  /// Called by initialize() when all parameters have their first values, of parts before the whole:
  /// for what follows from them.
  virtual void initialized() {}
};

/// Walks a module; the names it sees are dotted: "blocks.2.mixer.features.density.mean".
class Visitor {
 public:
  virtual ~Visitor() = default;
  void operator()(const std::string& name, Parameter& parameter) {
    on_parameter(path_ + name, parameter);
  }
  /// A tensor that is saved with the model but not trained.
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
  /// A part, before its own parts.
  virtual void on_module(const std::string&, Module&) {}

 private:
  std::string path_;
};

/// Whether a tensor may have this name in a file. Such a name is a label, never a path.
bool is_valid_tensor_name(const std::string& name);
inline constexpr std::size_t max_tensor_name_bytes = 256;
/// Files put words such as "optimizer/adamw.second_moment/" before it.
inline constexpr std::size_t max_visited_name_bytes = 200;

/// All parameters in the order of the visit. Throws, as what follows does, where a name is in use,
/// is no name for a file or has an empty part, and where a parameter has two names.
std::vector<NamedParameter> parameters_of(Module& module);
/// All buffers in the order of the visit.
std::vector<NamedTensor> buffers_of(Module& module);
/// A part of a model under its dotted name.
struct NamedPart {
  std::string name;
  Module* part;
};
/// All parts in the order of the visit, each before its own parts.
std::vector<NamedPart> parts_of(Module& module);
std::size_t count_parameters(Module& module);

/// Draws every parameter that asks for it (see Initial): the same seed and name give the same
/// numbers, whatever else the model holds.
void initialize(Module& module, std::uint64_t seed);

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Models of runs, and tensors in files, for programs of one's own.

#include <bochner/layers/module.hpp>
#include <memory>
#include <stdexcept>
#include <string>

namespace bochner {

/// The model of a run with the weights of a checkpoint: "runs/a" for the newest, "runs/a@best" or
/// "runs/a@1000"; the running means of weights where the run has them. The kinds that it names must
/// have been added, and its data must be there, except the text of a language model. Throws
/// std::invalid_argument, DataError and IoError, as `bochner eval` does; in double, where there are
/// no runs, std::invalid_argument.
std::shared_ptr<Module> trained_module(const std::string& run);

/// The same as what it is: LanguageModel, SequenceClassifier, Forecaster, EventModel, ...
template <class Model>
std::shared_ptr<Model> trained_model(const std::string& run) {
  if (auto model = std::dynamic_pointer_cast<Model>(trained_module(run))) return model;
  throw std::invalid_argument(run + ": is the run of another kind of model");
}

/// Writes tensors under their names as a safetensors file. When it returns, the file survives a
/// power loss; when it throws, an older one is as it was. Throws IoError, and std::invalid_argument
/// where two have one name or one is no is_valid_tensor_name().
void write_tensors(const std::string& file, const std::vector<NamedTensor>& tensors);

/// Reads tensors of the same names and shapes from such a file; others in it are left. Throws
/// DataError, with what is missing or of another shape, before it changes any, and IoError.
void read_tensors(const std::string& file, const std::vector<NamedTensor>& tensors);

}  // namespace bochner

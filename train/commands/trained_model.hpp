#pragma once
/// Models of runs and tensors in files, for custom programs.

#include <bochner/layers/module.hpp>
#include <memory>
#include <stdexcept>
#include <string>

namespace bochner {

/// Loads the model of a checkpoint: "runs/a" for the newest, "runs/a@best" or "runs/a@1000"; with
/// averaged weights if the run has them. Its custom kinds must have been added; its data are not
/// needed. Throws std::invalid_argument, DataError and IoError, as `bochner eval` does; in double
/// always std::invalid_argument, since runs are in float.
std::shared_ptr<Module> trained_module(const std::string& run);

/// Loads a model as its own class: LanguageModel, SequenceClassifier, Forecaster, EventModel, ...
/// Throws std::invalid_argument if it is another one.
template <class Model>
std::shared_ptr<Model> trained_model(const std::string& run) {
  if (auto model = std::dynamic_pointer_cast<Model>(trained_module(run))) return model;
  throw std::invalid_argument(run + ": this run has another kind of model");
}

/// Writes tensors under their names as a safetensors file. When it returns, the file survives a
/// power loss; when it throws, an older file is unchanged. Throws IoError, and
/// std::invalid_argument if two have the same name or one is not an is_valid_tensor_name().
void write_tensors(const std::string& file, const std::vector<NamedTensor>& tensors);

/// Reads tensors from a safetensors file by name and shape; ignores others in it. Throws IoError,
/// and DataError that lists missing ones and other shapes before any tensor changes.
void read_tensors(const std::string& file, const std::vector<NamedTensor>& tensors);

}  // namespace bochner

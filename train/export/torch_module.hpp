#pragma once
/// PyTorch export: selection of the sources in train/export/torch that a config needs.

#include <bochner/train/config/config.hpp>
#include <span>

namespace bochner {

/// Source file of train/export/torch, embedded in the program.
struct TorchSource {
  std::string_view name, text;  ///< "softmax"
};
std::span<const TorchSource> torch_sources();

/// Returns the sources for the model of a config, sorted by name: "weights", their imports, and for
/// each key such as "model.mixer.kind" that one reads, the source of its value. Throws
/// std::invalid_argument, in one line, for a kind without a source.
std::vector<TorchSource> torch_sources_of(const Config& config);

/// Returns all names given by @form: ("mixer", "softmax"), ..
std::vector<std::pair<std::string, std::string>> torch_forms();

/// Returns the text of the package's __init__.py; `words` describe its model.
std::string torch_package(const std::vector<TorchSource>& sources, const std::string& words);

}  // namespace bochner

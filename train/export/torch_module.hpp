#pragma once
/// Models as PyTorch modules: which of the sources in train/torch a config needs.

#include <bochner/train/config/config.hpp>
#include <span>

namespace bochner {

/// One of train/torch/*.py, kept in the program.
struct TorchSource {
  std::string_view name, text;  ///< "softmax"
};
/// All of them, by their names.
std::span<const TorchSource> torch_sources();

/// Those that make the model of a config, by their names: "weights", what each of them imports, and
/// where one reads a key such as "model.mixer.kind" that with what the config calls so. Throws
/// std::invalid_argument, in one line, for a kind that none of them has.
std::vector<TorchSource> torch_sources_of(const Config& config);

/// What @form gives a name to: ("mixer", "softmax"), .. in all sources.
std::vector<std::pair<std::string, std::string>> torch_forms();

/// The text of __init__.py, which makes a package of them; `words` tell what it is of.
std::string torch_package(const std::vector<TorchSource>& sources, const std::string& words);

}  // namespace bochner

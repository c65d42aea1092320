#pragma once
/// Small language models for gradcheck, of kinds or of a config, and the settings that carry the
/// model of a config to the program in double precision.

#include <bochner/layers/models/token_models.hpp>
#include <string>
#include <vector>

namespace bochner {

/// Returns "model.mixer.kind=linear" for each key of a model that is not the default. Numbers are
/// written exactly.
std::vector<std::string> model_settings(const LanguageModelSpec& spec);

/// Returns the model of such settings. Throws std::invalid_argument for unknown keys and for values
/// that are not of the key's type.
LanguageModelSpec model_of_settings(const std::vector<std::string>& settings);

/// Cuts a model to the length and to sizes that finite differences of all parameters check in a
/// second: one block of each mixer, 2 heads, width 8, 7 tokens. Chunks and windows are shorter than
/// the length.
LanguageModelSpec small_model(LanguageModelSpec spec, std::size_t length);

/// Returns the model at another length, with chunks of its own default.
LanguageModelSpec with_length(LanguageModelSpec spec, std::size_t length);

}  // namespace bochner

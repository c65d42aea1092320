#pragma once
/// What the table of parameters says about itself: help, reference page, completion.

#include <bochner/train/config/config.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// "whole number, at least 1", or the choices of a text.
std::string type_text(const ParameterRow& row);

/// One line for each key under `section` ("" for all): name, default, meaning, type, condition.
std::string help_text(const ParameterTable& table, std::string_view section = "");

/// Lists the keys as a JSON array; `resume` tells whether a resume may change the key.
std::string help_json(const ParameterTable& table, std::string_view section = "");

/// The reference as a page of Markdown.
std::string parameter_reference(const ParameterTable& table);

/// What can follow `word` on a command line after --set: keys with "=", then values. With a config,
/// the keys that have an effect in it.
std::vector<std::string> complete_setting(const ParameterTable& table, std::string_view word,
                                          const Config* config = nullptr);

}  // namespace bochner

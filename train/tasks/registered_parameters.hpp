#pragma once
#include <bochner/train/config/config.hpp>

namespace bochner {

/// The parameter table with all kinds that are registered now.
ParameterTable registered_parameters();
/// Parses the config that a run has stored. Unused keys are errors only where --set names them.
/// Throws ConfigError.
Config stored_config(std::string_view text, const std::string& source);
/// A config file with the changes of --set, checked. Throws ConfigError.
Config read_config(const std::string& file, const std::vector<std::string>& sets);
/// The same of a text; `source` stands in errors.
Config read_config_text(const std::string& text, const std::string& source,
                        const std::vector<std::string>& sets);

}  // namespace bochner

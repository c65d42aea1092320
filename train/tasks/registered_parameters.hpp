#pragma once
#include <bochner/train/config/config.hpp>

namespace bochner {

/// The parameter table with all kinds that are registered now.
ParameterTable registered_parameters();
/// A config file with the changes of --set, checked. Throws ConfigError.
Config read_config(const std::string& file, const std::vector<std::string>& sets);

}  // namespace bochner

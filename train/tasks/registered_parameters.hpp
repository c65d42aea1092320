#pragma once
#include <bochner/train/config/config.hpp>

namespace bochner {

/// Returns the parameters of all kinds that are registered now.
ParameterTable registered_parameters();
/// Parses the stored config of a run. Unused keys are errors only if --set names them. Throws
/// ConfigError.
Config stored_config(std::string_view text, const std::string& source);
/// Reads a config file, applies --set and checks the result. Throws ConfigError.
Config read_config(const std::string& file, const std::vector<std::string>& sets);
/// Reads a config from a text like read_config(); `source`: for errors.
Config read_config_text(const std::string& text, const std::string& source,
                        const std::vector<std::string>& sets);

/// Returns what to type instead of an unknown option: "--set optim.lr=3" for "--lr" and "3". Of
/// several keys with this name it suggests those with the fewest parts; "" if there is none.
std::string key_advice(const std::string& option, const std::string& value);

}  // namespace bochner

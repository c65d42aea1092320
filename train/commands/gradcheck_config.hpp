#pragma once
/// The model of a config for gradcheck, whose program in double precision reads no configs.

#include <string>
#include <vector>

namespace bochner {

struct ConfigModel {
  std::string name;                   ///< for the report
  std::vector<std::string> settings;  ///< see model_settings()
};

/// Returns the model of a config, or of the defaults if `file` is "", with changes. Throws
/// ConfigError; std::invalid_argument in double precision, and for models without mixers.
ConfigModel model_of_config(const std::string& file, const std::vector<std::string>& sets);

}  // namespace bochner

#pragma once
/// Which keys have an effect, as the conditions beside their descriptions say.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Whether the key has an effect in this config.
bool applies(const Config& config, const ParameterRow& row);
bool applies(const Config& config, std::string_view name);
/// "model.mixer.ssm.form = \"s5\"": the condition of a key, less what that of another key in it
/// implies. "" where it always applies.
std::string condition_text(const ParameterTable& table, const ParameterRow& row);
/// An equivalent condition without what that of another key in it implies.
KeyCondition simplified(const ParameterTable& table, const KeyCondition& condition);
/// The text of a condition as it is.
std::string condition_text(const ParameterTable& table, const KeyCondition& condition);
/// Throws ConfigError at a key that is not its default and has no effect. A file may hold the keys
/// of several kinds, of which --set chooses one.
void check_unused(const Config& config);
/// Checks only keys that --set gives or makes useless: a run may have others.
void check_unused_sets(const Config& config);
/// Keys without effect get their defaults.
Config without_unused(Config config);

}  // namespace bochner

#pragma once
/// What model.encoding demands of other keys, and which keys mean nothing to a model.

#include <bochner/train/tasks/unheeded_keys.hpp>

namespace bochner {

/// Throws ConfigError where the channels or frequencies of model.encoding do not fit a space of so
/// many dimensions.
void check_encoding(const Config& config, std::int64_t dimensions);
/// Throws ConfigError where model.positions = "encoding" and other keys do not fit.
void check_positions(const Config& config);

/// Those that mean nothing to the kinds of data and model.
std::vector<UnheededKey> unused_keys(const Config& config);

/// The bytes of data.separator, in which \n, \t, \r, \\ and \xHH stand for what configs cannot
/// hold. Throws ConfigError for other escapes, and where there is nothing.
std::string separator_bytes(const Config& config);

}  // namespace bochner

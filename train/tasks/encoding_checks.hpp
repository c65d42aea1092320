#pragma once
/// What model.encoding demands of other keys.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Throws ConfigError where the channels or frequencies of model.encoding do not fit a space of so
/// many dimensions.
void check_encoding(const Config& config, std::int64_t dimensions);
/// Throws ConfigError where model.positions = "encoding" and other keys do not fit.
void check_positions(const Config& config);

/// The bytes of data.separator, in which \n, \t, \r, \\ and \xHH stand for what configs cannot
/// hold. Throws ConfigError for other escapes, and where there is nothing.
std::string separator_bytes(const Config& config);

}  // namespace bochner

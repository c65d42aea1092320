#pragma once
#include <bochner/train/config/config.hpp>

namespace bochner {

/// Throws ConfigError if channels or frequencies of model.encoding do not fit the dimensions of the
/// space.
void check_encoding(const Config& config, std::int64_t dimensions);
/// Throws ConfigError if other keys contradict model.positions = "encoding".
void check_positions(const Config& config);

/// Returns the bytes of data.separator, with its escapes \n, \t, \r, \\ and \xHH decoded. Throws
/// ConfigError for other escapes, and if it is empty.
std::string separator_bytes(const Config& config);

}  // namespace bochner

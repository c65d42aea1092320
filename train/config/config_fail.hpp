#pragma once
/// How checks of a config complain: at the key, in words of the file.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// "model.width = 128"
std::string assignment(const Config& config, std::string_view name);

/// At the place of the key; of the key it clashes with when it is a default itself.
[[noreturn]] void fail(const Config& config, std::string_view name, const std::string& demand,
                       std::string_view other = {});

}  // namespace bochner

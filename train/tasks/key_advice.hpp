#pragma once
#include <string>

namespace bochner {

/// Returns what to type instead of an unknown option: "--set optim.lr=3" for "--lr" and "3". Of
/// several keys with this name it suggests those with the fewest parts; "" if there is none.
std::string key_advice(const std::string& option, const std::string& value);

}  // namespace bochner

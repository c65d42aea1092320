#pragma once
#include <string>

namespace bochner {

/// What to type in place of an option that there is not: "--set optim.lr=3" for "--lr" and "3", of
/// keys that are called so those with the fewest parts. "" where none is.
std::string key_advice(const std::string& option, const std::string& value);

}  // namespace bochner

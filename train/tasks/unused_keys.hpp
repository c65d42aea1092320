#pragma once
/// Keys that are set and that nothing heeds.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Such a key, what it needs, and where that would be said.
struct UnusedKey {
  std::string name, demand, other = {};
};

/// Keys and sections of keys, whether anything heeds them while `choice` is what it is, and what
/// they need otherwise; `choice` is "" where no single key would change that.
struct KeyCondition {
  std::vector<std::string> sections;
  bool heeded;
  std::string demand, choice = {};
  /// Else a file may have keys for another choice than that of --set.
  bool strict = false;
};

/// Of keys that only some values of another key heed.
KeyCondition applies_when(const Config& config, const std::string& choice,
                          const std::vector<std::string>& values,
                          std::vector<std::string> sections);
/// "needs data.kind = \"bytes\" or \"texts\"".
std::string needs_value(std::string_view key, const std::vector<std::string>& values);

/// In the order in which they are complained about.
std::vector<UnusedKey> unused_keys(const Config& config);

}  // namespace bochner

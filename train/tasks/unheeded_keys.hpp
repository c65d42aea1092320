#pragma once
/// Keys that are set and that nothing heeds.

#include <bochner/train/config/config.hpp>

namespace bochner {

/// Such a key, what it needs, and where that would be said.
struct UnheededKey {
  std::string name, demand, other = {};
};

/// Keys and sections of keys that nothing heeds while `choice` is what it is; "" where no single
/// key would change that.
struct UnheededSections {
  std::vector<std::string> names;
  std::string demand, choice = {};
};

/// The changed keys within the sections, but for those that are no mistake: a file may have keys
/// for another kind than the one that --set has chosen.
std::vector<UnheededKey> changed_keys(const Config& config,
                                      const std::vector<UnheededSections>& sections);

/// "needs data.kind = \"bytes\" or \"texts\"".
std::string needs_value(std::string_view key, const std::vector<std::string>& values);

/// Keys or sections that only some values of another key heed: a row of a table.
struct HeededBy {
  const char* choice;
  std::vector<std::string> values;
  std::vector<std::string> sections;
};

}  // namespace bochner

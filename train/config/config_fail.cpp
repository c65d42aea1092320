#include <fmt/format.h>

#include <bochner/train/config/config_fail.hpp>

namespace bochner {

std::string assignment(const Config& config, std::string_view name) {
  return fmt::format("{} = {}", name, format_value(config.value(name)));
}

void fail(const Config& config, std::string_view name, const std::string& demand,
          std::string_view other) {
  std::string where = config.location(name);
  if (where.empty() && !other.empty()) where = config.location(other);
  if (where.empty()) where = config.source();
  throw ConfigError(fmt::format("{}: {}: {}", where, assignment(config, name), demand));
}

}  // namespace bochner

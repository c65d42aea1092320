#pragma once
#include <optional>
#include <string>

namespace bochner {

/// Settings for all parameters whose name matches: `*` is any characters, including dots, `?` is
/// one. Empty members keep earlier settings.
struct ParameterGroup {
  std::string match;
  std::optional<double> lr_factor = std::nullopt;
  std::optional<double> weight_decay = std::nullopt;

  bool operator==(const ParameterGroup&) const = default;
};

}  // namespace bochner

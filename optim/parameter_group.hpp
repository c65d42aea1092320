#pragma once
#include <optional>
#include <string>

namespace bochner {

/// Settings for all parameters whose name matches: `*` is any characters, dots included, `?` is
/// one. What a group leaves out stays as it was.
struct ParameterGroup {
  std::string match;
  std::optional<double> lr_factor = std::nullopt;
  std::optional<double> weight_decay = std::nullopt;

  bool operator==(const ParameterGroup&) const = default;
};

}  // namespace bochner

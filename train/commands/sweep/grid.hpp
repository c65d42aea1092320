#pragma once
/// What a sweep varies: every combination of the values of a few config keys.

#include <string>
#include <string_view>
#include <vector>

namespace bochner {

struct Variation {
  std::string key;
  std::vector<std::string> values;
};
/// "optim.lr=1e-3,3e-3": values between commas; those within brackets, braces or quotes belong to
/// the value. Throws std::invalid_argument.
Variation parse_variation(std::string_view text);

/// One combination.
struct GridPoint {
  std::string name;                 ///< "lr=1e-3,seed=2", a name for a directory
  std::vector<std::string> values;  ///< one for each variation
  std::vector<std::string> sets;    ///< the same as changes of the config, KEY=VALUE
};
/// All combinations, the last variation changing fastest. Throws std::invalid_argument where a key
/// is varied twice, a value stands twice, or there are more than `most`.
std::vector<GridPoint> grid(const std::vector<Variation>& variations, std::size_t most = 10000);

}  // namespace bochner

#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <cctype>

namespace bochner::inline BOCHNER_PRECISION {

void report(Tape& tape, const std::string& name, double value) {
  if (!tape.reports) return;
  const auto is_allowed = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  };
  require(!name.empty() && std::ranges::all_of(name, is_allowed), "report", "a name is \"", name,
          "\"; use letters, digits, _, - and .");
  Reports::Mean& mean = tape.reports->means[name];
  mean.sum += value, mean.count += 1;
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/optim/flat_loop.hpp>
#include <unordered_map>

namespace bochner::inline BOCHNER_PRECISION {

void refuse_shared(const std::vector<NamedParameter>& parameters) {
  std::unordered_map<const Parameter*, const std::string*> seen;
  for (const NamedParameter& named : parameters) {
    const auto [first, is_new] = seen.emplace(named.parameter, &named.name);
    require(is_new, "optim", named.name, " is the same parameter as ", *first->second,
            "; list it once");
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION

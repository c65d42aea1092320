#pragma once
/// Names for things that a config chooses: feature maps, densities, mixers. A user's own are added
/// the same way.

#include <algorithm>
#include <bochner/autodiff/tensor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

template <class Interface, class Spec>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(const Spec&)>;
  Registry(const char* what, std::vector<std::pair<std::string, Factory>> builtin)
      : what_(what), entries_(std::move(builtin)) {}

  /// Makes `name` available in configs; a name that exists already is replaced.
  void add(const std::string& name, Factory factory) {
    const auto found = find(name);
    if (found != entries_.end()) {
      found->second = std::move(factory);
    } else {
      entries_.emplace_back(name, std::move(factory));
    }
  }

  /// Throws std::invalid_argument with the known names when there is no such name.
  std::unique_ptr<Interface> make(const std::string& name, const Spec& spec) {
    const auto found = find(name);
    if (found == entries_.end()) {
      std::string known;
      for (const auto& [key, factory] : entries_) known += (known.empty() ? "" : ", ") + key;
      require(false, what_, "no ", what_, " is called \"", name, "\"; there are: ", known);
    }
    return found->second(spec);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, factory] : entries_) all.push_back(name);
    return all;
  }

 private:
  auto find(const std::string& name) {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const auto& entry) { return entry.first == name; });
  }
  const char* what_;
  std::vector<std::pair<std::string, Factory>> entries_;
};

/// A factory that constructs `Type` from the spec: feature_maps().add("mine", make<Mine>).
template <class Type>
inline constexpr auto make = [](const auto& spec) { return std::make_unique<Type>(spec); };

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Names for things that a config chooses: feature maps, densities, mixers. A user's own are added
/// the same way.

#include <algorithm>
#include <bochner/autodiff/shape.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bochner {

/// A number that configs may set for a kind of one's own, beside the keys of the kind.
struct Option {
  std::string name;
  double initial;
  std::string doc;
};
/// The numbers by the names of their options.
using Options = std::map<std::string, double>;

template <class Interface, class Spec>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(const Spec&)>;
  Registry(const char* what, std::vector<std::pair<std::string, Factory>> builtin) : what_(what) {
    for (auto& [name, factory] : builtin) entries_.push_back({name, std::move(factory), {}});
  }

  /// Makes `name` available in configs; a name that exists already is replaced. The factory finds
  /// its options in `own` of the spec, and configs have them as keys beside `kind`.
  void add(const std::string& name, Factory factory, std::vector<Option> options = {}) {
    constexpr bool has_own = requires(Spec spec) { spec.own; };
    require(has_own || options.empty(), what_, "\"", name, "\" cannot have options");
    Entry entry{name, std::move(factory), std::move(options)};
    const auto found = find(name);
    if (found == entries_.end()) {
      entries_.push_back(std::move(entry));
    } else {
      *found = std::move(entry);
    }
  }

  /// Options that the spec does not give have their initial values.
  /// Throws std::invalid_argument with the known names when there is no such name.
  std::unique_ptr<Interface> make(const std::string& name, Spec spec) {
    const auto found = find(name);
    if (found == entries_.end()) {
      std::string known;
      for (const Entry& entry : entries_) known += (known.empty() ? "" : ", ") + entry.name;
      require(false, what_, "no ", what_, " is called \"", name, "\"; there are: ", known);
    }
    if constexpr (requires { spec.own; }) {
      for (const Option& option : found->options) spec.own.try_emplace(option.name, option.initial);
    }
    return found->factory(spec);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Entry& entry : entries_) all.push_back(entry.name);
    return all;
  }
  /// Of all kinds.
  std::vector<Option> options() const {
    std::vector<Option> all;
    for (const Entry& entry : entries_)
      all.insert(all.end(), entry.options.begin(), entry.options.end());
    return all;
  }

 private:
  struct Entry {
    std::string name;
    Factory factory;
    std::vector<Option> options;
  };
  auto find(const std::string& name) {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const Entry& entry) { return entry.name == name; });
  }
  const char* what_;
  std::vector<Entry> entries_;
};

/// A factory that constructs `Type` from the spec: feature_maps().add("mine", make<Mine>).
template <class Type>
inline constexpr auto make = [](const auto& spec) { return std::make_unique<Type>(spec); };

}  // namespace bochner

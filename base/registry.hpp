#pragma once
/// Registries map names in configs to feature maps, densities and mixers, built in or custom.

#include <algorithm>
#include <any>
#include <atomic>
#include <bochner/base/join.hpp>
#include <bochner/base/keys.hpp>
#include <bochner/base/shape.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

namespace bochner {

/// Returns whether the name is a bare key of TOML, which needs no quotes.
inline bool is_bare_name(std::string_view name) {
  return !name.empty() && name.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string_view::npos;
}

/// Base of registries that counts their changes, for what is derived from all of them.
struct CountedChanges {
  static std::atomic<std::size_t>& count() {
    static std::atomic<std::size_t> changes = 0;
    return changes;
  }
  CountedChanges() = default;
  CountedChanges(const CountedChanges&) = default;
  CountedChanges& operator=(const CountedChanges&) {
    ++count();
    return *this;
  }
};

/// Specs of custom kinds, one per type, carried by the Spec that they extend.
class OwnSpecs {
 public:
  template <class Own>
  Own& of() {
    std::any& spec = specs_[typeid(Own)];
    if (!spec.has_value()) spec = Own();
    return std::any_cast<Own&>(spec);
  }
  /// Returns the default Spec if none was set.
  template <class Own>
  Own of() const {
    const auto found = specs_.find(typeid(Own));
    return found == specs_.end() ? Own() : std::any_cast<const Own&>(found->second);
  }

 private:
  std::map<std::type_index, std::any> specs_;
};

/// Factory that constructs `Type` from the spec: feature_maps().add("mine", make<Mine>). With a
/// custom Spec that has a describe(), it passes both: add("mine", make<Mine, MySpec>).
template <class Type, class Own = void>
struct Make {
  template <class Spec>
  std::unique_ptr<Type> operator()(const Spec& spec) const {
    if constexpr (std::is_void_v<Own>) {
      return std::make_unique<Type>(spec);
    } else {
      return std::make_unique<Type>(spec, spec.own.template of<Own>());
    }
  }
};
template <class Type, class Own = void>
inline constexpr Make<Type, Own> make{};

/// Registry of factories by name. `Traits`: facts about a kind, if any.
template <class Interface, class Spec, class Traits = std::monostate>
class Registry : CountedChanges {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(const Spec&)>;
  /// Computes traits that depend on the spec.
  using TraitsOf = std::function<Traits(const Spec&)>;
  Registry(const char* what, std::vector<std::pair<std::string, Factory>> builtin) : what_(what) {
    for (auto& [name, factory] : builtin) add(name, std::move(factory));
  }

  /// Makes `name` available in configs, replacing an existing kind of that name. Throws
  /// std::invalid_argument unless is_bare_name().
  void add(const std::string& name, Factory factory, Traits traits = {}) {
    put({name, std::move(factory), {}, always(std::move(traits))});
  }
  void add(const std::string& name, Factory factory, TraitsOf traits) {
    put({name, std::move(factory), {}, std::move(traits)});
  }
  /// Adds a kind with a custom Spec, whose keys appear next to `kind` in configs.
  template <class Type, class Own>
  requires(!std::is_void_v<Own>) void add(const std::string& name, Make<Type, Own> factory,
                                          Traits traits = {}) {
    put({name, factory, {describe_in<Own>}, always(std::move(traits))});
  }
  template <class Type, class Own>
  requires(!std::is_void_v<Own>) void add(const std::string& name, Make<Type, Own> factory,
                                          TraitsOf traits) {
    put({name, factory, {describe_in<Own>}, std::move(traits)});
  }

  /// Constructs the kind `name`. Throws std::invalid_argument for an unknown name, listing the
  /// known ones, and for a value of the Spec out of its bounds, naming the key.
  std::unique_ptr<Interface> make(const std::string& name, const Spec& spec) const {
    const Entry& entry = find(name);
    if constexpr (requires(Keys & keys, Spec & all) { describe(keys, all); }) checked(what_, spec);
    return entry.factory(spec);
  }
  /// Returns the traits of a kind with this spec. Throws as make() does.
  Traits traits(const std::string& name, const Spec& spec) const { return find(name).traits(spec); }

  /// Marks all present kinds as built in; kinds added later are custom.
  Registry built_in() && {
    for (Entry& entry : entries_) entry.is_added = false;
    return std::move(*this);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Entry& entry : entries_) all.push_back(entry.name);
    return all;
  }
  /// Returns whether the kind is built in and was not replaced.
  bool is_built_in(const std::string& name) const {
    const auto found = std::ranges::find(entries_, name, &Entry::name);
    return found != entries_.end() && !found->is_added;
  }
  /// Adds the keys of one more Spec, which other kinds may share, to a kind.
  template <class Own>
  void share(const std::string& name) {
    std::ranges::find(entries_, name, &Entry::name)->describe_own.push_back(describe_in<Own>);
    ++count();
  }
  /// Describes the keys of all kinds.
  void describe_own(Keys& keys, OwnSpecs& own) const {
    for (const Entry& entry : entries_)
      for (const auto describe_one : entry.describe_own)
        keys.of_kind(
            entry.name, [&] { describe_one(keys, own); }, entry.is_added);
  }

 private:
  struct Entry {
    std::string name;
    Factory factory;
    std::vector<void (*)(Keys&, OwnSpecs&)> describe_own;
    TraitsOf traits;
    bool is_added = true;
  };
  static TraitsOf always(Traits traits) {
    return [traits = std::move(traits)](const Spec&) { return traits; };
  }
  template <class Own>
  static void describe_in(Keys& keys, OwnSpecs& own) {
    constexpr bool is_described = requires(Own & spec) { describe(keys, spec); };
    static_assert(is_described, "a Spec of keys needs void describe(Keys& keys, Spec& spec)");
    if constexpr (is_described) describe(keys, own.of<Own>());
  }
  const Entry& find(const std::string& name) const {
    const auto found = std::ranges::find(entries_, name, &Entry::name);
    if (found != entries_.end()) return *found;
    require(false, what_, "no ", what_, " is called \"", name,
            "\"; there are: ", joined(entries_, ", ", &Entry::name));
    return *found;
  }
  void put(Entry entry) {
    require(is_bare_name(entry.name), what_, "invalid name for a ", what_, ": \"", entry.name,
            "\"; use letters, digits, _ and -");
    const auto found = std::ranges::find(entries_, entry.name, &Entry::name);
    *(found == entries_.end() ? entries_.emplace(found) : found) = std::move(entry);
    ++count();
  }
  const char* what_;
  std::vector<Entry> entries_;
};

/// Accepts the names in a registry, after the given `first` ones.
template <class Interface, class Spec, class Traits>
Bounds one_of(Registry<Interface, Spec, Traits>& (*registry)(),
              std::vector<std::string> first = {}) {
  Bounds bounds = one_of([registry, first] {
    std::vector<std::string> names = first;
    for (std::string& name : registry().names()) names.push_back(std::move(name));
    return names;
  });
  bounds.added = [registry] {
    std::vector<std::string> names = registry().names();
    std::erase_if(names, [&](const std::string& name) { return registry().is_built_in(name); });
    return names;
  };
  return bounds;
}

/// The chosen kinds, or one of them, have a trait: has_kind(keys.name_of("kind"), mixers,
/// "queries", &MixerTraits::queries), where the Specs are as they start.
template <class Interface, class Spec, class Traits, class Has>
KeyCondition has_kind(std::string key, Registry<Interface, Spec, Traits>& (*registry)(),
                      std::string trait, const Has& has) {
  const auto kinds = [registry, has] {
    std::vector<std::string> names = registry().names();
    std::erase_if(names, [&](const std::string& name) {
      return !std::invoke(has, registry().traits(name, Spec()));
    });
    return names;
  };
  return {.form = KeyCondition::Form::one_of,
          .key = std::move(key),
          .trait = std::move(trait),
          .kinds = kinds,
          .only_named = true};
}

}  // namespace bochner

#pragma once
/// Registries map names in configs to feature maps, densities and mixers, built in or custom.

#include <any>
#include <atomic>
#include <bochner/base/keys.hpp>
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
bool is_bare_name(std::string_view name);

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

/// Names of kinds and the keys of their Specs: what registries of all types share.
class KindList : CountedChanges {
 public:
  std::vector<std::string> names() const;
  /// Lists the kinds that are not built in.
  std::vector<std::string> added_names() const;
  /// Returns whether the kind is built in.
  bool is_built_in(const std::string& name) const;
  /// Adds the keys of one more Spec, which other kinds may share, to a kind.
  template <class Own>
  void share(const std::string& name) {
    share(name, describe_in<Own>);
  }
  /// Describes the keys of all kinds; `key` of the present section chooses one.
  void describe_own(Keys& keys, OwnSpecs& own, const std::string& key = "kind") const;

 protected:
  using DescribeOwn = void (*)(Keys&, OwnSpecs&);
  explicit KindList(const char* what) : what_(what) {}

  template <class Own>
  static void describe_in(Keys& keys, OwnSpecs& own) {
    constexpr bool is_described = requires(Own & spec) { describe(keys, spec); };
    static_assert(is_described, "a Spec of keys needs void describe(Keys& keys, Spec& spec)");
    if constexpr (is_described) describe(keys, own.of<Own>());
  }
  /// Returns the index of a kind. Throws std::invalid_argument with the known names for another.
  std::size_t index_of(const std::string& name) const;
  /// Adds a kind, or replaces the custom one of that name, and returns its index. Throws
  /// std::invalid_argument unless is_bare_name(), and for the name of a built-in kind.
  std::size_t put(const std::string& name, DescribeOwn describe_one);
  /// Marks all present kinds as built in.
  void mark_built_in();

  const char* what_;

 private:
  struct Kind {
    std::string name;
    std::vector<DescribeOwn> describe_own;
    bool is_added = true;
  };
  void share(const std::string& name, DescribeOwn describe_one);
  const Kind* find(const std::string& name) const;
  std::vector<Kind> kinds_;
};

/// Registry of factories by name. `Traits`: facts about a kind, if any.
template <class Interface, class Spec, class Traits = std::monostate>
class Registry : public KindList {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(const Spec&)>;
  /// Computes traits that depend on the spec.
  using TraitsOf = std::function<Traits(const Spec&)>;
  Registry(const char* what, std::vector<std::pair<std::string, Factory>> builtin)
      : KindList(what) {
    for (auto& [name, factory] : builtin) add(name, std::move(factory));
  }

  /// Makes `name` available in configs, replacing a custom kind of that name. Throws
  /// std::invalid_argument unless is_bare_name(), and for the name of a built-in kind.
  void add(const std::string& name, Factory factory, Traits traits = {}) {
    put(name, nullptr, {std::move(factory), always(std::move(traits))});
  }
  void add(const std::string& name, Factory factory, TraitsOf traits) {
    put(name, nullptr, {std::move(factory), std::move(traits)});
  }
  /// Adds a kind with a custom Spec, whose keys appear next to `kind` in configs.
  template <class Type, class Own>
  requires(!std::is_void_v<Own>) void add(const std::string& name, Make<Type, Own> factory,
                                          Traits traits = {}) {
    put(name, describe_in<Own>, {factory, always(std::move(traits))});
  }
  template <class Type, class Own>
  requires(!std::is_void_v<Own>) void add(const std::string& name, Make<Type, Own> factory,
                                          TraitsOf traits) {
    put(name, describe_in<Own>, {factory, std::move(traits)});
  }

  /// Constructs the kind `name`. Throws std::invalid_argument for an unknown name, listing the
  /// known ones, and for a value of the Spec out of its bounds, naming the key.
  std::unique_ptr<Interface> make(const std::string& name, const Spec& spec) const {
    const Entry& entry = entries_[index_of(name)];
    if constexpr (requires(Keys & keys, Spec & all) { describe(keys, all); }) checked(what_, spec);
    return entry.factory(spec);
  }
  /// Returns the traits of a kind with this spec. Throws as make() does.
  Traits traits(const std::string& name, const Spec& spec) const {
    return entries_[index_of(name)].traits(spec);
  }

  /// Marks all present kinds as built in; kinds added later are custom.
  Registry built_in() && {
    mark_built_in();
    return std::move(*this);
  }

 private:
  struct Entry {
    Factory factory;
    TraitsOf traits;
  };
  static TraitsOf always(Traits traits) {
    return [traits = std::move(traits)](const Spec&) { return traits; };
  }
  void put(const std::string& name, DescribeOwn describe_one, Entry entry) {
    const std::size_t index = KindList::put(name, describe_one);
    if (index == entries_.size()) entries_.emplace_back();
    entries_[index] = std::move(entry);
  }
  std::vector<Entry> entries_;  // in the order of the names
};

/// A function that returns a registry, such as `mixers`, whatever the registry's type is.
class KindsOf {
 public:
  template <class Interface, class Spec, class Traits>
  KindsOf(Registry<Interface, Spec, Traits>& (*registry)())
      : registry_(reinterpret_cast<void (*)()>(registry)), call_([](void (*function)()) {
          return static_cast<const KindList*>(
              &reinterpret_cast<Registry<Interface, Spec, Traits>& (*)()>(function)());
        }) {}
  const KindList* operator->() const { return call_(registry_); }

 private:
  void (*registry_)();
  const KindList* (*call_)(void (*)());
};

/// Accepts the names in a registry, after the given `first` ones.
Bounds one_of(KindsOf registry, std::vector<std::string> first = {});

/// The chosen kinds, or one of them, have a trait, by their names.
KeyCondition has_kind(std::string key, KindsOf registry, std::string trait,
                      std::function<bool(const std::string&)> has);

/// The chosen kinds, or one of them, have a trait: has_kind(keys.name_of("kind"), mixers,
/// "queries", &MixerTraits::queries), where the Specs are as they start.
template <class Interface, class Spec, class Traits, class Has>
KeyCondition has_kind(std::string key, Registry<Interface, Spec, Traits>& (*registry)(),
                      std::string trait, const Has& has) {
  return has_kind(std::move(key), KindsOf(registry), std::move(trait),
                  [registry, has](const std::string& name) -> bool {
                    return std::invoke(has, registry().traits(name, Spec()));
                  });
}

}  // namespace bochner

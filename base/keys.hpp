#pragma once
/// Config keys. One function next to each Spec describes its members; defaults, help, checks and
/// copying follow from it:
///
///   inline void describe(Keys& keys, DecaySpec& spec) {
///     keys("kind", spec.kind, one_of({"none", "decay"}), "factor of each head");
///     keys.when("kind", {"decay"})("shortest", spec.shortest, above(0), "smallest initial tau");
///   }

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace bochner {

using NameList = std::function<std::vector<std::string>()>;

/// When a key has an effect, by the values of other keys; errors, help and what configs show follow
/// from it. Numbers and flags are compared as configs write them: "0", "true". A value of a key
/// that has no effect itself fulfils nothing.
struct KeyCondition {
  enum class Form {
    all,      ///< of the parts: always, without any
    any,      ///< of the parts
    one_of,   ///< the key has one of the values
    none_of,  ///< the key has a value other than these; without any, a list has items
    applies   ///< the key itself has an effect
  };
  Form form = Form::all;
  std::string key = {};  ///< dotted, from the top: "model.mixer.kind"
  std::vector<std::string> values = {};
  std::string trait = {};   ///< of the kinds that are meant, in place of values
  NameList kinds = {};      ///< that have the trait
  bool only_named = false;  ///< else kinds that a program adds fulfil it too
  std::vector<KeyCondition> parts = {};

  bool always() const { return form == Form::all && parts.empty(); }
  friend bool operator==(const KeyCondition& a, const KeyCondition& b);
};

KeyCondition when(std::string key, std::vector<std::string> values);
KeyCondition unless(std::string key, std::vector<std::string> values);
/// The key itself has an effect.
KeyCondition applies(std::string key);
KeyCondition operator&&(KeyCondition a, const KeyCondition& b);
KeyCondition operator||(KeyCondition a, const KeyCondition& b);

/// Views the alternatives of an "any", or the condition itself as the only one.
std::span<const KeyCondition> alternatives_of(const KeyCondition& condition);
/// Views what an "all" demands, or the condition itself as the only demand.
std::span<const KeyCondition> demands_of(const KeyCondition& condition);
/// Returns whether `b` demands all that `a` does.
bool is_contained(const KeyCondition& a, const KeyCondition& b);
/// a || b for two Specs with the same key: values of one key are joined, repetitions left out.
KeyCondition either(const KeyCondition& a, const KeyCondition& b);

struct Period;  // defined by the train layer
enum class PeriodUnits;
struct ParameterGroup;

/// Limits of a number, of each number in a list, or of the count in a period.
struct Range {
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool above_lowest = false;
  bool below_highest = false;
};

struct Bounds {
  Range range = {};
  /// Choices of a text. A function, so that kinds registered at run time are included.
  NameList choices = {};
  PeriodUnits units = {};
  /// Choices that a program has added; empty where none can be.
  NameList added = {};

  Bounds in(PeriodUnits wanted) const { return {range, choices, wanted, added}; }
};

inline Bounds between(double lowest, double highest) { return {{lowest, highest}}; }
inline Bounds at_least(double lowest) { return {{.lowest = lowest}}; }
inline Bounds above(double lowest) { return {{.lowest = lowest, .above_lowest = true}}; }
/// Accepts lowest <= x < highest.
inline Bounds below(double lowest, double highest) {
  return {{.lowest = lowest, .highest = highest, .below_highest = true}};
}
inline Bounds one_of(NameList names) { return {.choices = std::move(names)}; }
inline Bounds one_of(std::vector<std::string> names) {
  return one_of([names = std::move(names)] { return names; });
}

bool contains(const Range& range, double number);
/// Formats a range as "at least 1" or "between 0 and 1"; "" without limits.
std::string text_of(const Range& range);

struct KeyTraits {
  bool resume = false;
  /// Whether the texts are paths, made absolute so that a run resumes from any directory.
  bool path = false;
  /// A list, by its dotted name, whose items are the values in place of this one unless it is
  /// empty; and a key of the same section whose texts are chosen as well where it applies.
  const char *replaced_by = "", *joined_by = "";
  /// Whether the model depends on it, as on all of model.* that a resume may not change.
  bool model = false;
};
inline constexpr KeyTraits resumable{.resume = true}, resumable_path{.resume = true, .path = true},
    of_model{.model = true};

struct Key {
  using Member =
      std::variant<std::int64_t*, double*, std::string*, bool*, std::vector<std::string>*,
                   std::vector<double>*, Period*, std::vector<ParameterGroup>*>;
  std::string name;
  Member member;  ///< of the Spec; holds the default in a new Spec
  Bounds bounds;
  std::string words;
  KeyTraits traits;
  KeyCondition applies;  ///< when it has an effect
  std::string added;     ///< the kind of a program that describes it; "" for the library
};

/// Visits the members that describe() lists. Names are dotted: "model.mixer.heads".
class Keys {
 public:
  virtual ~Keys() = default;

  /// Member: std::size_t, std::int64_t, double, bool, std::string, std::vector<double or string>.
  template <class Member>
  void operator()(const std::string& name, Member& member, const Bounds& bounds,
                  const std::string& words, KeyTraits traits = {}) {
    if constexpr (std::is_integral_v<Member> && !std::is_same_v<Member, bool>) {
      static_assert(sizeof(Member) == 8, "whole numbers are std::size_t or std::int64_t");
      auto number = std::int64_t(member);
      on_key({path_ + name, &number, bounds, words, traits, applies_, added_});
      member = Member(number);
    } else {
      on_key({path_ + name, &member, bounds, words, traits, applies_, added_});
    }
  }
  template <class Member>
  void operator()(const std::string& name, Member& member, const std::string& words,
                  KeyTraits traits = {}) {
    constexpr bool is_count = std::is_unsigned_v<Member> && !std::is_same_v<Member, bool>;
    (*this)(name, member, is_count ? at_least(0) : Bounds{}, words, traits);
  }
  /// Describes a nested Spec under the prefix `name`.
  template <class Spec>
  void section(const std::string& name, Spec& spec) {
    const std::size_t length = path_.size();
    path_ += name + ".";
    describe(*this, spec);
    path_.resize(length);
  }
  /// Conditions on a key of the present section; bochner::when() takes names from the top.
  KeyCondition is(const std::string& key, std::vector<std::string> values) const {
    return bochner::when(path_ + key, std::move(values));
  }
  KeyCondition is_not(const std::string& key, std::vector<std::string> values) const {
    return unless(path_ + key, std::move(values));
  }
  /// "model.mixer.heads" of "heads", in the present section.
  std::string name_of(const std::string& key) const { return path_ + key; }
  /// The keys that `describe_some` describes have an effect under the condition only.
  template <class Describe>
  void when(const KeyCondition& condition, const Describe& describe_some) {
    const KeyCondition outer = applies_;
    applies_ = outer && condition;
    describe_some();
    applies_ = outer;
  }
  template <class Describe>
  void when(const std::string& key, std::vector<std::string> values,
            const Describe& describe_some) {
    when(is(key, std::move(values)), describe_some);
  }
  /// Limits the one key or section that follows: keys.when("kind", {"clip"})("floor", ..).
  struct Conditional {
    Keys& keys;
    KeyCondition condition;

    template <class Member>
    void operator()(const std::string& name, Member& member, const Bounds& bounds,
                    const std::string& words, KeyTraits traits = {}) const {
      keys.when(condition, [&] { keys(name, member, bounds, words, traits); });
    }
    template <class Member>
    void operator()(const std::string& name, Member& member, const std::string& words,
                    KeyTraits traits = {}) const {
      keys.when(condition, [&] { keys(name, member, words, traits); });
    }
    template <class Spec>
    void section(const std::string& name, Spec& spec) const {
      keys.when(condition, [&] { keys.section(name, spec); });
    }
  };
  Conditional when(KeyCondition condition) { return {*this, std::move(condition)}; }
  Conditional when(const std::string& key, std::vector<std::string> values) {
    return when(is(key, std::move(values)));
  }
  /// The keys of one kind of a registry, which the library has or a program has added; `key` of the
  /// present section names it.
  template <class Describe>
  void of_kind(const std::string& kind, const Describe& describe_own, bool is_added = true,
               const std::string& key = "kind") {
    KeyCondition own = is(key, {kind});
    own.only_named = true;
    const std::string outer = added_;
    if (is_added) added_ = kind;
    when(own, describe_own);
    added_ = outer;
  }

 protected:
  virtual void on_key(const Key& key) = 0;

 private:
  std::string path_, added_;
  KeyCondition applies_;
};

/// Checks numbers and texts against their bounds; throws std::invalid_argument "[what] key = value:
/// must be .." at the first violation.
class BoundsCheck : public Keys {
 public:
  explicit BoundsCheck(const char* what) : what_(what) {}

 private:
  void on_key(const Key& key) override;
  const char* what_;
};

/// Returns `spec` if its values are within the bounds of describe(). Throws as BoundsCheck does.
template <class Spec>
const Spec& checked(const char* what, const Spec& spec) {
  BoundsCheck check(what);
  Spec copy = spec;
  describe(check, copy);
  return spec;
}

}  // namespace bochner

#pragma once
/// Keys: what configs may say about a Spec. Beside the Spec stands the one function that describes
/// it; rows, help, defaults, checks and copying follow from that:
///
///   inline void describe(Keys& keys, DecaySpec& spec) {
///     keys("shortest", spec.shortest, above(0), "smallest tau at the start, in tokens");
///   }

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace bochner {

struct Period;  // these are for those who describe them to know
enum class PeriodUnits;
struct ParameterGroup;

/// Limits of a number, of every number of a list, or of the count of a period.
struct Range {
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool above_lowest = false;
  bool below_highest = false;
};

using NameList = std::function<std::vector<std::string>()>;

/// What the value of a key may be.
struct Bounds {
  Range range = {};
  /// Of a text. Asked each time, so that a kind registered at run time is known.
  NameList choices = {};
  /// Of a period.
  PeriodUnits units = {};
  /// Whether programs may add choices of their own.
  bool open = false;

  Bounds in(PeriodUnits wanted) const { return {range, choices, wanted, open}; }
};

inline Bounds between(double lowest, double highest) { return {{lowest, highest}}; }
inline Bounds at_least(double lowest) { return {{.lowest = lowest}}; }
inline Bounds above(double lowest) { return {{.lowest = lowest, .above_lowest = true}}; }
/// lowest <= x < highest
inline Bounds below(double lowest, double highest) {
  return {{.lowest = lowest, .highest = highest, .below_highest = true}};
}
inline Bounds one_of(NameList names) { return {.choices = std::move(names)}; }
inline Bounds one_of(std::vector<std::string> names) {
  return one_of([names = std::move(names)] { return names; });
}

bool contains(const Range& range, double number);
/// "at least 1", "between 0 and 1"; "" without limits.
std::string text_of(const Range& range);

struct KeyTraits {
  /// Whether `resume` may change it.
  bool resume = false;
  /// Whether the texts are paths, kept absolute so that a run resumes from any folder.
  bool path = false;
};
inline constexpr KeyTraits resumable{.resume = true}, resumable_path{.resume = true, .path = true};

struct Key {
  using Member =
      std::variant<std::int64_t*, double*, std::string*, bool*, std::vector<std::string>*,
                   std::vector<double>*, Period*, std::vector<ParameterGroup>*>;
  std::string name;
  Member member;  ///< of the Spec: its default where that is new, and the place for a value
  Bounds bounds;
  std::string words;
  KeyTraits traits;
  std::string kind;  ///< which alone has it, of those that are added to a registry; "" for all
};

/// Walks what describe() says of a Spec; the names it sees are dotted: "model.mixer.heads".
class Keys {
 public:
  virtual ~Keys() = default;

  /// A member is a std::size_t, std::int64_t, double, bool, std::string, or a std::vector of double
  /// or std::string.
  template <class Member>
  void operator()(const std::string& name, Member& member, const Bounds& bounds,
                  const std::string& words, KeyTraits traits = {}) {
    if constexpr (std::is_integral_v<Member> && !std::is_same_v<Member, bool>) {
      static_assert(sizeof(Member) == 8, "whole numbers are std::size_t or std::int64_t");
      auto number = std::int64_t(member);
      on_key({path_ + name, &number, bounds, words, traits, kind_});
      member = Member(number);
    } else {
      on_key({path_ + name, &member, bounds, words, traits, kind_});
    }
  }
  template <class Member>
  void operator()(const std::string& name, Member& member, const std::string& words,
                  KeyTraits traits = {}) {
    constexpr bool is_count = std::is_unsigned_v<Member> && !std::is_same_v<Member, bool>;
    (*this)(name, member, is_count ? at_least(0) : Bounds{}, words, traits);
  }
  /// The keys of a Spec inside, below a name of their own.
  template <class Spec>
  void section(const std::string& name, Spec& spec) {
    const std::size_t length = path_.size();
    path_ += name + ".";
    describe(*this, spec);
    path_.resize(length);
  }
  /// What `describe_own` says is of one kind only, or "" of those that have what stands around it.
  template <class DescribeOwn>
  void of_kind(const std::string& kind, const DescribeOwn& describe_own) {
    const std::string outer = kind_;
    if (!kind.empty()) kind_ = kind;
    describe_own();
    kind_ = outer;
  }

 protected:
  virtual void on_key(const Key& key) = 0;

 private:
  std::string path_, kind_;
};

/// Numbers and texts against their bounds; throws std::invalid_argument "[what] key = value: must
/// be .." at the first that is outside.
class BoundsCheck : public Keys {
 public:
  explicit BoundsCheck(const char* what) : what_(what) {}

 private:
  void on_key(const Key& key) override;
  const char* what_;
};

/// The Spec itself, if its values are within what describe() says of them: what configs may say
/// holds for users of the library too. Throws as BoundsCheck does.
template <class Spec>
const Spec& checked(const char* what, const Spec& spec) {
  BoundsCheck check(what);
  Spec copy = spec;
  describe(check, copy);
  return spec;
}

}  // namespace bochner

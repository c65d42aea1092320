#pragma once
/// Conditions: when a key has an effect, by the values of other keys. They stand where the key is
/// described, see Keys::when(); errors, help and what configs show follow from them.

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bochner {

using NameList = std::function<std::vector<std::string>()>;

/// Numbers and flags are compared as configs write them: "0", "true". A value of a key that has no
/// effect itself fulfils nothing.
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

}  // namespace bochner

#pragma once
/// JSON, as a tree that is built and written, or read and asked: the one door to the format.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bochner {

/// Members stand in the order in which they were set. Numbers are written in their shortest form;
/// null stands for one that is not finite, and for what is missing.
class Json {
 public:
  using Member = std::pair<std::string, Json>;
  using Items = std::vector<Json>;
  using Members = std::vector<Member>;

  Json() : value_(Literal{"null"}) {}
  template <std::same_as<bool> Flag>
  Json(Flag flag) : value_(Literal{flag ? "true" : "false"}) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Json(Integer number)
      : value_(Literal{std::to_string(number)}) {}
  Json(double number);
  template <std::convertible_to<std::string_view> Text>
  Json(const Text& text) : value_(std::string(std::string_view(text))) {}
  template <class T>
  Json(const std::vector<T>& items) : value_(Items(items.begin(), items.end())) {}
  Json(std::initializer_list<Member> members);
  static Json array(std::initializer_list<Json> items = {});
  template <class Range>
  static Json array(const Range& items) {
    return Items(items.begin(), items.end());
  }
  /// A number with six significant digits.
  static Json rounded(double number);
  /// Null for what is no JSON, and for parts of it that are nested more than 100 deep.
  static Json parse(std::string_view text);

  /// The object with this member, which replaces one of the same name; null becomes an object.
  Json& set(std::string_view key, Json value);
  /// The object with the members of another.
  Json& set(const Json& object);
  /// The array with this item at its end; null becomes an array.
  Json& push(Json item);

  /// In one line without its end, or in lines that end, two spaces a level.
  std::string line() const;
  std::string lines() const;

  /// The member of an object; null where there is none.
  const Json& operator[](std::string_view key) const;
  /// Of an array or an object, none of anything else.
  const Items& items() const;
  const Members& members() const;
  bool is_object() const { return std::holds_alternative<Members>(value_); }
  /// Nothing, or nullptr, for a value of another kind.
  std::optional<double> number() const;
  /// A number that is written in digits alone; nothing as well for one that needs more than 64
  /// bits.
  std::optional<std::uint64_t> count() const;
  const std::string* text() const { return std::get_if<std::string>(&value_); }

 private:
  /// null, true, false or a number, as it is written.
  struct Literal {
    std::string text;
  };
  void write(std::string& out, const std::string& line_start) const;

  std::variant<Literal, std::string, Items, Members> value_;
};

}  // namespace bochner

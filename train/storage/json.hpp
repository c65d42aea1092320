#pragma once
/// JSON as a tree to build and write, or to parse and query; only this file includes its library.

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

/// JSON value. Members keep the order in which they were set. Numbers are written in their shortest
/// form; numbers that are not finite, and missing values, become null.
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
  static Json array(std::initializer_list<Json> items = {}) { return Items(items); }
  template <class Range>
  static Json array(const Range& items) {
    return Items(items.begin(), items.end());
  }
  /// Makes a number, or numbers, with six significant digits.
  static Json rounded(double number);
  static Json rounded(const std::vector<double>& numbers);
  /// Parses a text; returns null for invalid JSON and for parts that are nested more than 100 deep.
  static Json parse(std::string_view text);

  /// Sets a member, replacing one of the same name; null becomes an object.
  Json& set(std::string_view key, Json value);
  /// Sets the members of another object.
  Json& set(const Json& object);
  /// Appends an item; null becomes an array.
  Json& push(Json item);

  /// Writes one line without its end, or lines with two spaces per level.
  std::string line() const;
  std::string lines() const;

  /// Returns the member of an object; null if there is none.
  const Json& operator[](std::string_view key) const;
  /// Returns the items of an array or an object; none for other kinds.
  const Items& items() const&;
  const Members& members() const&;
  /// A loop over parts of a temporary would outlive it.
  const Items& items() && = delete;
  const Members& members() && = delete;
  bool is_object() const { return std::holds_alternative<Members>(value_); }
  /// Returns the value; nothing, or nullptr, for another kind.
  std::optional<double> number() const;
  /// Returns a number written in digits alone; nothing if it exceeds 64 bits.
  std::optional<std::uint64_t> count() const;
  /// Returns true or false; nothing for another kind.
  std::optional<bool> flag() const;
  const std::string* text() const { return std::get_if<std::string>(&value_); }

 private:
  /// Literal: null, true, false or a number, as written.
  struct Literal {
    std::string text;
  };
  void write(std::string& out, const std::string& line_start) const;

  std::variant<Literal, std::string, Items, Members> value_;
};

}  // namespace bochner

#include <fmt/format.h>

#include <bochner/train/storage/json.hpp>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace bochner {
namespace {

using Parsed = nlohmann::ordered_json;

constexpr int deepest = 100;

/// Quotes a text; bytes that are not UTF-8 become the replacement character.
std::string quoted(const std::string& text) {
  return Parsed(text).dump(-1, ' ', false, Parsed::error_handler_t::replace);
}

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return rest == end && error == std::errc() ? std::optional(number) : std::nullopt;
}

Json converted(const Parsed& value, int depth) {
  Json json;
  if (depth > deepest || value.is_null()) return json;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.get_ref<const std::string&>();
  if (value.is_array()) json = Json::array();
  if (value.is_object()) json = Json(std::initializer_list<Json::Member>{});
  for (const auto& [key, part] : value.items())
    value.is_array() ? json.push(converted(part, depth + 1))
                     : json.set(key, converted(part, depth + 1));
  return json;
}

/// Writes a container; `line_start` is empty for a text of one line.
template <class Parts, class Write>
void write_parts(std::string& out, const Parts& parts, const char* brackets,
                 const std::string& line_start, const Write& write) {
  const std::string inner = line_start.empty() ? "" : line_start + "  ";
  out += brackets[0];
  for (const auto& part : parts) {
    if (&part != &parts.front()) out += ',';
    out += inner;
    write(part, inner);
  }
  if (!parts.empty()) out += line_start;
  out += brackets[1];
}

}  // namespace

Json::Json(double number) : Json() {
  if (std::isfinite(number)) value_ = Literal{fmt::format("{}", number)};
}

Json::Json(std::initializer_list<Member> members) : value_(Members(members)) {}

Json Json::rounded(double number) {
  Json json;
  if (std::isfinite(number)) json.value_ = Literal{fmt::format("{:.6g}", number)};
  return json;
}

Json Json::rounded(const std::vector<double>& numbers) {
  Json items = array();
  for (const double number : numbers) items.push(rounded(number));
  return items;
}

Json Json::parse(std::string_view text) {
  const Parsed parsed = Parsed::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json() : converted(parsed, 0);
}

Json& Json::set(std::string_view key, Json value) {
  if (!is_object()) value_ = Members();
  auto& members = std::get<Members>(value_);
  for (auto& [name, old] : members)
    if (name == key) return old = std::move(value), *this;
  members.emplace_back(key, std::move(value));
  return *this;
}

Json& Json::set(const Json& object) {
  for (const auto& [key, value] : object.members()) set(key, value);
  return *this;
}

Json& Json::push(Json item) {
  if (!std::holds_alternative<Items>(value_)) value_ = Items();
  std::get<Items>(value_).push_back(std::move(item));
  return *this;
}

void Json::write(std::string& out, const std::string& line_start) const {
  if (const auto* literal = std::get_if<Literal>(&value_)) {
    out += literal->text;
  } else if (text()) {
    out += quoted(*text());
  } else if (is_object()) {
    write_parts(out, members(), "{}", line_start, [&](const Member& member, const auto& inner) {
      out += quoted(member.first) + (inner.empty() ? ":" : ": ");
      member.second.write(out, inner);
    });
  } else {
    write_parts(out, items(), "[]", line_start,
                [&](const Json& item, const auto& inner) { item.write(out, inner); });
  }
}

std::string Json::line() const {
  std::string out;
  write(out, "");
  return out;
}

std::string Json::lines() const {
  std::string out;
  write(out, "\n");
  return out + "\n";
}

const Json& Json::operator[](std::string_view key) const {
  static const Json null;
  for (const auto& [name, value] : members())
    if (name == key) return value;
  return null;
}

const Json::Items& Json::items() const& {
  static const Items none;
  const auto* items = std::get_if<Items>(&value_);
  return items ? *items : none;
}

const Json::Members& Json::members() const& {
  static const Members none;
  const auto* members = std::get_if<Members>(&value_);
  return members ? *members : none;
}

std::optional<double> Json::number() const {
  const auto* literal = std::get_if<Literal>(&value_);
  return literal ? parsed<double>(literal->text) : std::nullopt;
}

std::optional<std::uint64_t> Json::count() const {
  const auto* literal = std::get_if<Literal>(&value_);
  return literal ? parsed<std::uint64_t>(literal->text) : std::nullopt;
}

std::optional<bool> Json::flag() const {
  const auto* literal = std::get_if<Literal>(&value_);
  const bool is_true = literal && literal->text == "true";
  return is_true || (literal && literal->text == "false") ? std::optional(is_true) : std::nullopt;
}

}  // namespace bochner

#pragma once
/// Whether a text is XML: elements closed in order, attributes in quotes and named once, no bare
/// ampersand, no control characters. Enough of the standard for what the reports write.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : rest_(text) {}
  /// What is wrong, "" if nothing is.
  std::string problem() {
    if (rest_.starts_with("<!DOCTYPE html>")) rest_.remove_prefix(15);
    while (!rest_.empty() && problem_.empty()) {
      rest_.front() == '<' ? read_tag() : read_text();
    }
    if (problem_.empty() && !open_.empty()) problem_ = "not closed: " + open_.back();
    return problem_;
  }

 private:
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what + " before: " + std::string(rest_.substr(0, 40));
  }
  std::string_view take_until(char end) {
    const std::size_t at = std::min(rest_.find(end), rest_.size());
    const std::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(at);
    return taken;
  }
  void check_characters(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte < 0x20 && byte != '\n' && byte != '\t') fail("control character");
      if (byte != '&') continue;
      const std::string_view name = text.substr(i + 1, text.find(';', i) - i - 1);
      if (!std::set<std::string_view>{"amp", "lt", "gt", "quot", "#39"}.contains(name))
        fail("bare &");
    }
  }
  void read_text() { check_characters(take_until('<')); }
  static bool is_name(std::string_view name) {
    return !name.empty() && name.find_first_of("<>\"'=& \n") == std::string_view::npos;
  }
  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }
  void read_tag() {
    rest_.remove_prefix(1);
    if (rest_.starts_with("/")) {
      rest_.remove_prefix(1);
      const std::string_view name = take_until('>');
      if (open_.empty() || open_.back() != name) return fail("closed out of order");
      open_.pop_back();
      return rest_.remove_prefix(1);
    }
    const std::size_t end = rest_.find_first_of(" />\n");
    const std::string name(rest_.substr(0, end));
    if (end == std::string_view::npos || !is_name(name)) return fail("no name");
    rest_.remove_prefix(end);
    std::set<std::string> attributes;
    for (skip_space(); !rest_.empty() && rest_.front() != '>' && rest_.front() != '/'; skip_space())
      if (!read_attribute(attributes)) return;
    const bool empty = rest_.starts_with("/");
    if (empty) rest_.remove_prefix(1);
    if (!rest_.starts_with(">")) return fail("tag not closed");
    rest_.remove_prefix(1);
    if (!empty) open_.push_back(name);
  }
  bool read_attribute(std::set<std::string>& attributes) {
    const std::string name(take_until('='));
    if (!is_name(name) || !attributes.insert(name).second) return fail("bad attribute"), false;
    rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
    if (!rest_.starts_with("\"")) return fail("attribute without quotes"), false;
    rest_.remove_prefix(1);
    const std::string_view value = take_until('"');
    check_characters(value);
    if (value.find('<') != std::string_view::npos || rest_.empty())
      return fail("< in attribute"), false;
    rest_.remove_prefix(1);
    return problem_.empty();
  }

  std::string_view rest_;
  std::vector<std::string> open_;
  std::string problem_;
};

inline std::string xml_problem(std::string_view text) { return XmlReader(text).problem(); }

}  // namespace bochner

/// TOML in, ConfigValues out: the only file that sees toml++.

#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/config/config.hpp>
#include <bochner/train/config/nearest.hpp>
#include <bochner/train/config/toml.hpp>
#include <bochner/train/storage/storage.hpp>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace bochner {
namespace {

constexpr std::size_t largest_file = 1 << 20;
constexpr std::size_t deepest_key = 32;
constexpr std::size_t longest_shown = 80;

/// Where a text came from; only files have lines and columns worth telling.
struct Origin {
  std::string source;
  bool is_file;

  std::string at(const toml::source_position& position) const {
    return is_file ? fmt::format("{}:{}:{}", source, position.line, position.column) : source;
  }
};

/// In quotes, and short enough for a line.
std::string shown(std::string_view text) {
  if (text.size() <= longest_shown) return in_quotes(text);
  std::size_t end = longest_shown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return in_quotes(text.substr(0, end)) + "...";
}

/// A name of the user's, without quotes but on one line.
std::string shown_name(std::string_view name) {
  std::string text = shown(name);
  std::erase(text, '"');
  return text;
}

std::string one_line(std::string_view message) {
  std::string text(message);
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20; }, ' ');
  return text;
}

std::string shown(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_table<decltype(value)>) {
      out << "{...}";
    } else if constexpr (toml::is_array<decltype(value)>) {
      out << "[...]";
    } else if constexpr (toml::is_string<decltype(value)>) {
      out << shown(std::string_view(value.get()));
    } else if constexpr (toml::is_number<decltype(value)> || toml::is_boolean<decltype(value)>) {
      out << format_value(value.get());
    } else {
      out << value.get();
    }
  });
  return out.str();
}

/// Returns a whole number, however it is written: 1000, 1e3 or 1000.0.
std::optional<std::int64_t> whole_number(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return whole->get();
  const double number = node.is_floating_point() ? node.as_floating_point()->get() : NAN;
  const bool is_whole = std::abs(number) <= 1e15 && std::trunc(number) == number;
  return is_whole ? std::optional(std::int64_t(number)) : std::nullopt;
}

/// Reads one value of a known type; its errors show place, name, value and what it must be.
class Reader {
 public:
  Reader(const Origin& origin, std::string name, bool path = false)
      : origin_(origin), name_(std::move(name)), path_(path) {}

  void read(const toml::node& node, std::int64_t& value) const {
    const auto whole = whole_number(node);
    if (!whole) fail(node, "must be a whole number");
    value = *whole;
  }

  void read(const toml::node& node, bool& value) const {
    if (!node.is_boolean()) fail(node, "must be true or false");
    value = node.as_boolean()->get();
  }

  void read(const toml::node& node, double& value) const {
    if (!node.is_number()) fail(node, "must be a number");
    value = *node.value<double>();
    if (!std::isfinite(value)) fail(node, "must be a finite number");
  }

  void read(const toml::node& node, std::string& value) const {
    if (!node.is_string()) fail(node, "must be text in quotes");
    value = node.as_string()->get();
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (std::ranges::any_of(value, is_control)) fail(node, "must not hold control characters");
    if (!path_ || value.empty()) return;
    std::error_code error;
    value = std::filesystem::absolute(value, error).string();
    if (error) fail(node, "has no absolute path: " + error.message());
  }

  void read(const toml::node& node, Period& period) const {
    try {
      const auto steps = whole_number(node);
      const auto* text = node.as_string();
      period = parse_period(steps                          ? std::to_string(*steps)
                            : text && !text->get().empty() ? text->get()
                                                           : "not a period");
    } catch (const std::invalid_argument& error) {
      fail(node, error.what());
    }
  }

  void read(const toml::node& node, ParameterGroup& group) const {
    if (!node.is_table()) fail(node, "must be a table { match, lr_factor, weight_decay }");
    group = {};
    for (const auto& [key, value] : *node.as_table()) {
      const Reader reader(origin_, name_ + "." + shown_name(key.str()));
      if (key == "match") {
        reader.read(value, group.match);
      } else if (key == "lr_factor") {
        reader.read_not_negative(value, group.lr_factor.emplace());
      } else if (key == "weight_decay") {
        reader.read_not_negative(value, group.weight_decay.emplace());
      } else {
        const std::string near = nearest(key.str(), {"match", "lr_factor", "weight_decay"});
        throw ConfigError(fmt::format("{}: {}: no such key.{}", origin_.at(key.source().begin),
                                      reader.name_,
                                      near.empty() ? "" : " Did you mean " + near + "?"));
      }
    }
    if (group.match.empty())
      fail(node, "needs match, a pattern of parameter names such as \"*.density.*\"");
  }

  template <class Item>
  void read(const toml::node& node, std::vector<Item>& items) const {
    items.clear();
    if (std::is_same_v<Item, std::string> && node.is_string())
      return read(node, items.emplace_back());
    if (!node.is_array()) fail(node, list_demand(Item()));
    for (const toml::node& item : *node.as_array()) {
      const Reader reader(origin_, fmt::format("{}[{}]", name_, items.size()), path_);
      reader.read(item, items.emplace_back());
    }
  }

 private:
  static const char* list_demand(const std::string&) { return "must be a list of texts"; }
  static const char* list_demand(double) { return "must be a list of numbers"; }
  static const char* list_demand(const ParameterGroup&) {
    return "must be a list of tables { match, lr_factor, weight_decay }";
  }

  [[noreturn]] void fail(const toml::node& node, const std::string& demand) const {
    throw ConfigError(fmt::format("{}: {} = {}: {}", origin_.at(node.source().begin), name_,
                                  shown(node), demand));
  }

  void read_not_negative(const toml::node& node, double& value) const {
    read(node, value);
    if (value < 0) fail(node, "must be at least 0");
  }

  const Origin& origin_;
  std::string name_;
  bool path_;
};

struct Entry {
  std::string name;
  const ParameterRow* row;  // nullptr when there is no such key
  const toml::node* node;
  toml::source_position key;
};

/// Returns the row of a name as written: the name of a table alone means its kind.
const ParameterRow* written_row(const ParameterTable& parameters, const std::string& name) {
  const ParameterRow* row = parameters.find(name);
  return row ? row : parameters.find(name + ".kind");
}

/// Reads the keys of a text.
struct Entries {
  const ParameterTable& parameters;
  std::vector<Entry> list = {};

  void add(const std::string& name, const toml::node& node, const toml::source_position& key) {
    if (node.is_table() && parameters.has_section(name))
      add_all(name + ".", *node.as_table());
    else
      list.push_back({name, written_row(parameters, name), &node, key});
  }

  void add_all(const std::string& prefix, const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      if (key.str().find('.') == std::string_view::npos)
        add(name, node, key.source().begin);
      else  // "optim.lr" in quotes is one key with a dot, not a key in a table
        list.push_back({name, nullptr, &node, key.source().begin});
    }
  }
};

[[noreturn]] void refuse_key(const Config& config, const Entry& entry, const Origin& origin) {
  const std::string where = origin.at(entry.key);
  const std::string name = shown_name(entry.name);
  if (config.table().has_section(entry.name))
    throw ConfigError(fmt::format("{}: {} = {}: must be a table", where, name, shown(*entry.node)));
  const std::string near = config.table().suggestion(entry.name);
  throw ConfigError(fmt::format(
      "{}: {}: no such key. {}", where, name,
      near.empty() ? "`bochner config keys` lists them" : "Did you mean " + near + "?"));
}

/// The first of these texts that the row may not be, where programs add choices; "" if there is
/// none.
std::string unknown_kind(const ParameterRow& row, const toml::node& node) {
  if (!row.bounds.added) return "";
  const std::vector<std::string> choices = row.bounds.choices();
  const auto is_unknown = [&](const toml::node& item) {
    return item.is_string() && std::ranges::count(choices, item.as_string()->get()) == 0;
  };
  if (is_unknown(node)) return node.as_string()->get();
  if (!node.is_array()) return "";
  const auto item = std::ranges::find_if(*node.as_array(), is_unknown);
  return item == node.as_array()->end() ? "" : item->as_string()->get();
}

/// Throws where the key may be one of a kind that another program has.
void refuse_foreign_key(const Entry& entry, const std::vector<Entry>& all, const Origin& origin) {
  for (const Entry& other : all) {
    if (!other.row || !is_within(entry.name, section_of(other.row->name))) continue;
    const std::string kind = unknown_kind(*other.row, *other.node);
    if (kind.empty()) continue;
    throw ConfigError(fmt::format(
        "{}: {}: no such key, and {} names {}, which is not in this program: one of your own is "
        "known to the program that registers it",
        origin.at(entry.key), shown_name(entry.name), other.row->name, shown(kind)));
  }
}

/// In the order of the text, so that the first mistake is the one reported.
void assign(Config& config, std::vector<Entry> entries, const Origin& origin) {
  const auto earlier = [](const Entry& a, const Entry& b) { return a.key < b.key; };
  std::stable_sort(entries.begin(), entries.end(), earlier);
  for (const Entry& entry : entries) {
    if (!entry.row) {
      refuse_foreign_key(entry, entries, origin);
      refuse_key(config, entry, origin);
    }
    const Reader reader(origin, entry.row->name, entry.row->traits.path);
    ConfigValue value = entry.row->initial;
    std::visit([&](auto& member) { reader.read(*entry.node, member); }, value);
    config.set(entry.row->name, std::move(value), origin.at(entry.node->source().begin));
  }
}

/// toml++ 3.3 limits the nesting of values but not the length of dotted keys, each part of which
/// is a table in a table.
void refuse_deep_keys(std::string_view text, const Origin& origin) {
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      const bool is_long = text.substr(i).starts_with(std::string(3, c));
      const std::string end(is_long ? 3 : 1, c);
      for (i += end.size(); i < text.size() && !text.substr(i).starts_with(end); ++i) {
        if (!is_long && text[i] == '\n') break;
        if (c == '"' && text[i] == '\\') ++i;
      }
      i += end.size() - 1;
    } else if (c == '.' && ++dots > deepest_key) {
      const auto line = 1 + std::count(text.begin(), text.begin() + i, '\n');
      const std::size_t column = i - text.substr(0, i).rfind('\n');  // npos + 1 is 0
      throw ConfigError(fmt::format("{}: a key of more than {} parts: no key is that deep",
                                    origin.at({static_cast<toml::source_index>(line),
                                               static_cast<toml::source_index>(column)}),
                                    deepest_key));
    } else if (std::string_view("\n=,{}[]").find(c) != std::string_view::npos) {
      dots = 0;
    }
  }
}

/// What is wrong with the name is an error of usage, what the system fails at is one of its own.
[[noreturn]] void refuse_file(const std::filesystem::path& file, const std::string& name,
                              const char* operation, int error) {
  if (error == ENOENT || error == ENOTDIR) throw ConfigError(name + ": no such file");
  if (error == EISDIR) throw ConfigError(name + ": is a folder; name a TOML file");
  if (error == EACCES) throw ConfigError(name + ": cannot be read; check its permissions");
  throw_io_error(operation, file, error);
}

std::string read_text(const std::filesystem::path& file) {
  const std::string name = shown_name(file.string());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rb"),
                                                           std::fclose);
  if (!in) refuse_file(file, name, "open", errno);
  std::string text(largest_file + 1, '\0');
  errno = 0;
  text.resize(std::fread(text.data(), 1, text.size(), in.get()));
  if (std::ferror(in.get())) refuse_file(file, name, "read", errno);
  return text;
}

bool is_plain_kind(ConfigKind kind, const toml::node& node) {
  if (node.is_string()) return false;
  return kind == ConfigKind::text || (kind == ConfigKind::text_list && !node.is_array()) ||
         (kind == ConfigKind::period && !node.is_number());
}

/// The table { value = ... } of a --set.
toml::table parse_assigned(std::string_view text, const ParameterRow* row, const Origin& origin) {
  try {
    toml::table parsed = toml::parse(fmt::format("value = {}", text));
    const toml::node* node = parsed.get("value");
    const bool is_plain = row && !node->is_table() && is_plain_kind(row->kind(), *node);
    if (parsed.size() == 1 && !is_plain) return parsed;
  } catch (const toml::parse_error&) {  // not TOML: plain text
  }
  try {
    return toml::parse(fmt::format("value = {}", in_quotes(text)));
  } catch (const toml::parse_error&) {
    throw ConfigError(origin.source + ": the value is not UTF-8 text");
  }
}

}  // namespace

Config load_config(const std::filesystem::path& file, ParameterTable table) {
  return parse_config(read_text(file), file.string(), std::move(table));
}

Config parse_config(std::string_view text, const std::string& source, ParameterTable table) {
  const Origin origin{shown_name(source), true};
  if (text.size() > largest_file)
    throw ConfigError(origin.source + ": larger than 1 MiB: a config is a short text");
  refuse_deep_keys(text, origin);
  Config config(std::move(table), origin.source);
  try {
    const toml::table parsed = toml::parse(text);
    Entries entries{config.table()};
    entries.add_all("", parsed);
    assign(config, std::move(entries.list), origin);
  } catch (const toml::parse_error& error) {
    throw ConfigError(
        fmt::format("{}: {}", origin.at(error.source().begin), one_line(error.description())));
  }
  return config;
}

void apply_set(Config& config, std::string_view assignment, const char* option) {
  const Origin origin{option, false};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos)
    throw ConfigError(fmt::format("{} {}: write KEY=VALUE", option, shown_name(assignment)));
  const std::string_view value = assignment.substr(equals + 1);
  if (value.size() > largest_file)
    throw ConfigError(fmt::format("{}: the value is larger than 1 MiB", option));
  if (value.find_first_of("{\r\n") != value.npos) refuse_deep_keys(value, origin);  // else no keys
  const std::string name(assignment.substr(0, equals));
  const toml::table parsed = parse_assigned(value, written_row(config.table(), name), origin);
  Entries entries{config.table()};
  entries.add(name, *parsed.get("value"), {});
  assign(config, std::move(entries.list), origin);
}

}  // namespace bochner

#pragma once
/// Config: the value of every parameter of a run, and where it was written.

#include <bochner/train/config/parameters.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// A mistake of the user's in a config (exit code 2), on one line:
/// `bad.toml:21:1: optim.lrr: no such key. Did you mean optim.lr?`
class ConfigError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Config {
 public:
  using Texts = std::vector<std::string>;
  using Numbers = std::vector<double>;

  /// Holds all defaults. `source` names the file in errors about missing keys.
  explicit Config(ParameterTable table, std::string source = "config");

  /// The value by dotted name; std::logic_error when the name or the type is not that of a row.
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  /// An integer that its range keeps from being negative.
  std::size_t count(std::string_view name) const { return std::size_t(integer(name)); }
  double number(std::string_view name) const { return get<double>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  bool flag(std::string_view name) const { return get<bool>(name); }
  const Texts& text_list(std::string_view name) const { return get<Texts>(name); }
  const Numbers& number_list(std::string_view name) const { return get<Numbers>(name); }
  const Period& period(std::string_view name) const { return get<Period>(name); }
  const ConfigValue& value(std::string_view name) const;
  /// Returns the value of a row of its own table.
  const ConfigValue& value(const ParameterRow& row) const;

  /// "bad.toml:21:1" or "--set"; "" for a default.
  const std::string& location(std::string_view name) const;
  /// Whether an option of the command has it, and no file.
  bool is_set(std::string_view name) const { return location(name).starts_with("--"); }
  void set(std::string_view name, ConfigValue value, std::string location);
  /// The names of the values that are not the defaults, in the order of the table.
  std::vector<std::string_view> changed() const;

  const ParameterTable& table() const { return table_; }
  const std::string& source() const { return source_; }

  /// Equal names and values; locations do not count.
  friend bool operator==(const Config& a, const Config& b);

 private:
  std::size_t index_of(std::string_view name) const;
  [[noreturn]] static void refuse_type(std::string_view name);
  template <class Type>
  const Type& get(std::string_view name) const {
    if (const Type* found = std::get_if<Type>(&value(name))) return *found;
    refuse_type(name);
  }

  ParameterTable table_;
  std::string source_;
  std::vector<ConfigValue> values_;     // by row
  std::vector<std::string> locations_;  // by row
};

/// Gives the members that are described to it the values of a config.
class SpecReader : public Keys {
 public:
  explicit SpecReader(const Config& config) : config_(config) {}

 private:
  void on_key(const Key& key) override;
  const Config& config_;
};

/// A Spec whose keys stand below the section of the config.
template <class Spec>
Spec read_spec(const Config& config, const std::string& section) {
  Spec spec;
  SpecReader(config).section(section, spec);
  return spec;
}

/// Reads a TOML file of at most 1 MiB. Checks names and types; ranges are left to validate(), so
/// that --set can still mend them. Throws ConfigError.
Config load_config(const std::filesystem::path& file, ParameterTable table);
/// Reads a text; `source` precedes line and column in errors.
Config parse_config(std::string_view text, const std::string& source, ParameterTable table);
/// Applies one `--set KEY=VALUE`, or an option that means one: VALUE is TOML, or plain text for a
/// key that takes text.
void apply_set(Config& config, std::string_view assignment, const char* option = "--set");

/// Ranges, choices and what keys demand of each other. Throws ConfigError at the first mistake.
void validate(const Config& config);
/// Applies each `--set KEY=VALUE`, then validates. Throws ConfigError.
Config with_sets(Config config, const std::vector<std::string>& sets);

/// How checks complain: at the place of the key; of the one it clashes with where the first is a
/// default, or where --set has brought the clash. Throws ConfigError.
[[noreturn]] void fail(const Config& config, std::string_view name, const std::string& demand,
                       std::string_view other = {});
/// Fails with the demand and the other key: "must divide" as "must divide model.width = 128".
[[noreturn]] void fail_over(const Config& config, std::string_view name, const std::string& demand,
                            std::string_view other);
/// Fails unless the number of a key is at most that of another.
void require_at_most(const Config& config, std::string_view name, std::string_view other);
/// "model.width = 128"
std::string assignment(const Config& config, std::string_view name);

/// Which keys are printed: those that apply to this config and those that are not the defaults, or
/// every one.
enum class Printed { applying, all };
/// Keys as TOML in a stable order; reading it back gives an equal config. Programs without a kind
/// that was added read what does not name it.
std::string print_config(const Config& config, Printed which = Printed::applying);

struct ConfigChange {
  std::string name;
  ConfigValue before;
  ConfigValue after;
};

/// The keys of `before` with another value in `after`, in the order of the table.
std::vector<ConfigChange> changes(const Config& before, const Config& after);
/// Throws ConfigError when a change is not one that `resume` may make. `run` names the run.
void require_resumable(const Config& before, const Config& after, const std::string& run);
/// Throw ConfigError if a change would make another model of the weights of a run, or of a file to
/// import.
void require_same_model(const Config& before, const Config& after, const std::string& run);
void require_same_import(const Config& before, const Config& after, const std::string& file);

}  // namespace bochner

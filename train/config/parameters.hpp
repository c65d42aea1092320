#pragma once
/// The one table of parameters: it drives TOML files, --set, help, completion and the reference.

#include <bochner/base/keys.hpp>
#include <bochner/optim/parameter_group.hpp>
#include <bochner/train/config/period.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bochner {

/// What a Key::Member points at.
using ConfigValue = std::variant<std::int64_t, double, std::string, bool, std::vector<std::string>,
                                 std::vector<double>, Period, std::vector<ParameterGroup>>;

/// The alternatives of ConfigValue, in its order.
enum class ConfigKind { integer, number, text, flag, text_list, number_list, period, groups };

struct ParameterRow {
  std::string name;
  ConfigValue initial;
  std::string doc;
  Bounds bounds = {};
  KeyTraits traits = {};
  KeyCondition applies = {};  ///< of any of the Specs that describe it
  std::string added = {};     ///< Key::added of the first of them

  ConfigKind kind() const { return ConfigKind(initial.index()); }
};

/// The rows of Specs as they describe themselves, with the defaults of new ones.
class RowCollector : public Keys {
 public:
  /// The keys of Specs below a section; those that another one has described are shared.
  template <class... Specs>
  void add(const std::string& section_name, const KeyCondition& condition = {}) {
    const auto add_one = [&](auto spec) { when(condition, [&] { section(section_name, spec); }); };
    (add_one(Specs()), ...);
  }
  std::vector<ParameterRow> rows;

 private:
  void on_key(const Key& key) override;
  void require_unused(const Key& key) const;
};

class Config;
/// What keys demand of each other; throws ConfigError.
using ConfigCheck = void (*)(const Config&);

/// The rows in the order of the reference, found by dotted name. Copies share them.
class ParameterTable {
 public:
  /// Throws std::invalid_argument when a name is taken.
  explicit ParameterTable(std::vector<ParameterRow> rows, std::vector<ConfigCheck> checks = {});
  void add(ParameterRow row);
  /// Returns the same rows with other checks.
  ParameterTable with(std::vector<ConfigCheck> checks) const;

  const std::vector<ParameterRow>& rows() const { return rows_->in_order; }
  const std::vector<ConfigCheck>& checks() const { return checks_; }
  /// nullptr when there is no such row.
  const ParameterRow* find(std::string_view name) const { return rows_->find(name); }
  /// Whether rows exist below the name: "model.mixer" for "model.mixer.heads".
  bool has_section(std::string_view name) const { return rows_->has_section(name); }
  /// The sections in the order of their first row.
  const std::vector<std::string>& sections() const { return rows_->sections; }
  /// The name that was probably meant; "" when none is near.
  std::string suggestion(std::string_view unknown) const;

 private:
  struct Rows {
    std::vector<ParameterRow> in_order;
    std::vector<std::string> sections;
    std::map<std::string, std::size_t, std::less<>> by_name;

    const ParameterRow* find(std::string_view name) const;
    bool has_section(std::string_view name) const;
    void add(ParameterRow row);
  };
  std::shared_ptr<const Rows> rows_;
  std::vector<ConfigCheck> checks_;
};

/// "model.mixer" of "model.mixer.heads"; "" at the top.
std::string_view section_of(std::string_view name);
/// Whether a name is that of the section or below it; all are within "".
bool is_within(std::string_view name, std::string_view section);
/// The text in quotes, on one line whatever it holds; TOML reads it back.
std::string in_quotes(std::string_view text);
/// The value as TOML.
std::string format_value(const ConfigValue& value);
/// "\"softmax\" or \"linear\"".
std::string alternatives(const std::vector<std::string>& names);
}  // namespace bochner

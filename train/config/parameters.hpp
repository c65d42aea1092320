#pragma once
/// The one table of parameters: it drives TOML files, --set, help, completion and the reference.

#include <bochner/train/config/period.hpp>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bochner {

/// One entry of optim.groups: parameters whose name matches the glob get these settings.
struct GroupRule {
  std::string match;
  double lr_factor = 1;
  std::optional<double> weight_decay;

  bool operator==(const GroupRule&) const = default;
};

using ConfigValue = std::variant<std::int64_t, double, std::string, bool, std::vector<std::string>,
                                 std::vector<double>, Period, std::vector<GroupRule>>;

/// The alternatives of ConfigValue, in its order.
enum class ConfigKind { integer, number, text, flag, text_list, number_list, period, groups };

inline ConfigKind kind_of(const ConfigValue& value) {
  return static_cast<ConfigKind>(value.index());
}

/// Limits of a number, of every number of a list, or of the count of a period.
struct Range {
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool above_lowest = false;
  bool below_highest = false;

  bool contains(double number) const;
  /// "at least 1", "between 0 and 1"; "" without limits.
  std::string text() const;
};

using NameList = std::function<std::vector<std::string>()>;

struct ParameterRow {
  std::string name;
  ConfigValue initial;
  std::string doc;
  Range range = {};
  /// Of a period.
  PeriodUnits units = PeriodUnits::any;
  /// Asked each time, so that a kind registered at run time is known.
  NameList choices = {};
  /// Whether `resume` may change it.
  bool resume = false;
  /// Whether the texts are paths, kept absolute so that a run resumes from any folder.
  bool path = false;

  ConfigKind kind() const { return kind_of(initial); }
};

class Config;
/// What keys demand of each other; throws ConfigError.
using ConfigCheck = void (*)(const Config&);

/// The rows in the order of the reference, found by dotted name.
class ParameterTable {
 public:
  explicit ParameterTable(std::vector<ParameterRow> rows, std::vector<ConfigCheck> checks = {});

  /// Appends a row, for instance of a feature map of one's own.
  /// Throws std::invalid_argument when the name is taken.
  void add(ParameterRow row);

  const std::vector<ParameterRow>& rows() const { return rows_; }
  const std::vector<ConfigCheck>& checks() const { return checks_; }
  /// nullptr when there is no such row.
  const ParameterRow* find(std::string_view name) const;
  /// Whether rows exist below the name: "model.mixer" for "model.mixer.heads".
  bool has_section(std::string_view name) const;
  /// The sections in the order of their first row.
  std::vector<std::string> sections() const;
  /// The name that was probably meant; "" when none is near.
  std::string suggestion(std::string_view unknown) const;

 private:
  std::vector<ParameterRow> rows_;
  std::vector<ConfigCheck> checks_;
};

/// The names of the kinds that users can add to.
struct Choices {
  NameList mixers = [] { return std::vector<std::string>{"softmax", "linear"}; };
  NameList features = [] { return std::vector<std::string>{"positive"}; };
  NameList projections = [] { return std::vector<std::string>{"density"}; };
  NameList densities = [] { return std::vector<std::string>{"gaussian"}; };
  NameList times = [] { return std::vector<std::string>{"none", "gaussian", "flow"}; };
  NameList time_uses = [] { return std::vector<std::string>{"concatenate", "add"}; };
  NameList draws = [] { return std::vector<std::string>{"iid", "orthogonal"}; };
};

ParameterTable standard_parameters(const Choices& choices = {});

/// "model.mixer" of "model.mixer.heads"; "" at the top.
std::string_view section_of(std::string_view name);
/// The text in quotes, on one line whatever it holds; TOML reads it back.
std::string in_quotes(std::string_view text);
/// The value as TOML.
std::string format_value(const ConfigValue& value);
/// "\"softmax\", \"linear\"", the last two joined by `or`.
std::string one_of(const std::vector<std::string>& names);

}  // namespace bochner

#pragma once
/// Filling in the texts of config_templates.

#include <map>
#include <string>
#include <vector>

namespace bochner {

inline constexpr const char* text_length = "length = 256                  # bytes of a text\n";

/// Values of the blanks of a template by name, as TOML.
using Blanks = std::map<std::string, std::string>;

/// Returns the template of a kind, with defaults for other blanks. Throws std::invalid_argument for
/// an unknown kind.
std::string fill_in(const std::string& kind, const Blanks& blanks);
/// Adds the steps of ten epochs, from 100 to 1000, with warmup and validation to match.
Blanks with_steps(Blanks blanks, std::size_t steps_of_epoch);
/// Returns names as a TOML list: ["a", "b"].
std::string quoted_list(const std::vector<std::string>& names);
/// Returns a config of a classifier of `texts` texts. `columns`: keys of a table; "" for files in
/// folders named like their labels.
std::string text_config(const std::string& files, const std::string& columns, std::size_t texts);

}  // namespace bochner

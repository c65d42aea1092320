#pragma once
/// The texts of config_templates with what is filled in.

#include <map>
#include <string>
#include <vector>

namespace bochner {

inline constexpr const char* text_length =
    "length = 256                  # bytes of a text that the model sees\n";

/// What a template is filled with, as TOML.
using Blanks = std::map<std::string, std::string>;

/// The template of a kind; what no blank is given for is as usual. Throws std::invalid_argument for
/// a kind that is not there.
std::string fill_in(const std::string& kind, const Blanks& blanks);
/// So many steps for so many of an epoch: ten epochs, within limits.
Blanks with_steps(Blanks blanks, std::size_t steps_of_epoch);
/// ["a", "b"]
std::string quoted_list(const std::vector<std::string>& names);
/// A classifier of so many texts. `columns` of a table; "" for files in folders that are called
/// like their labels.
std::string text_config(const std::string& files, const std::string& columns, std::size_t texts);

}  // namespace bochner

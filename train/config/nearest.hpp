#pragma once
/// "Did you mean ...?"

#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// Returns the first of the names with the fewest edits from `word`; "" for no names and for very
/// long words.
std::string fewest_edits(std::string_view word, const std::vector<std::string>& names);
/// Returns it if the edits are few for the length of the word after its last dot or dash; else "".
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace bochner

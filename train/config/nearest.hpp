#pragma once
/// "Did you mean ...?"

#include <string>
#include <string_view>
#include <vector>

namespace bochner {

/// The first of the names with the fewest edits from `word`; "" of none, and for very long words.
std::string fewest_edits(std::string_view word, const std::vector<std::string>& names);
/// The same where the edits are few beside what stands behind the word's last dot or dash; "" when
/// no name is near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace bochner

#include <algorithm>
#include <bochner/train/config/nearest.hpp>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t longest_word = 100;  // the distance costs the product of the lengths

/// Insertions, deletions, replacements and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string fewest_edits(std::string_view word, const std::vector<std::string>& names) {
  if (word.size() > longest_word) return "";
  std::string best;
  std::size_t fewest = std::string::npos;
  for (const std::string& name : names) {
    const std::size_t longer = std::max(word.size(), name.size());
    if (longer - std::min(word.size(), name.size()) >= fewest) continue;  // so many insertions
    if (const std::size_t edits = edit_distance(word, name); edits < fewest) {
      fewest = edits;
      best = name;
    }
  }
  return best;
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  const std::string best = fewest_edits(word, names);
  const std::size_t last_part = word.size() - (word.find_last_of(".-") + 1);
  return edit_distance(word, best) <= std::max<std::size_t>(1, last_part / 2) ? best : "";
}

}  // namespace bochner

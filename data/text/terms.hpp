#pragma once
/// Terms of texts: words, and words that follow each other.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bochner {

/// Returns the words of a text: runs of letters and digits, in small letters. In scripts without
/// spaces (Han, kana, Thai) each letter is a word, and so is each pictograph. Bytes that are not
/// UTF-8 are letters.
std::vector<std::string> words_of(std::string_view text);

/// Returns runs of 1 to `longest` words, joined by spaces, as often as they occur.
std::vector<std::string> terms_of(std::string_view text, std::size_t longest);

/// Returns the terms that at least k texts have, in the order of letters, where k is the least
/// number with at most `most` such terms.
std::vector<std::string> frequent_terms(const std::vector<std::string_view>& texts,
                                        std::size_t longest, std::size_t most);

/// Numbers of terms: their places in a list.
class TermNumbers {
 public:
  TermNumbers(const std::vector<std::string>& terms, std::size_t longest);
  /// Returns the numbers of the terms of a text, ascending, each once; others are left out.
  std::vector<std::uint32_t> in(std::string_view text) const;

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::size_t longest_;
};

}  // namespace bochner

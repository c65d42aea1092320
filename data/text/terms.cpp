#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/data/text/terms.hpp>

namespace bochner {
namespace {

struct CodePoints {
  char32_t first, last;
};

/// Spaces and punctuation outside of ASCII.
constexpr CodePoints separators[] = {
    {0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},     {0xbb, 0xbf},     {0xd7, 0xd7},
    {0xf7, 0xf7},     {0x60c, 0x60c},   {0x61b, 0x61f},   {0x6d4, 0x6d4},   {0x964, 0x965},
    {0x2000, 0x20a0}, {0x2190, 0x25ff}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0xfe30, 0xfe6f},
    {0xff00, 0xff0f}, {0xff1a, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff65}};

/// Letters that are written without spaces between words, and pictographs.
constexpr CodePoints single_letters[] = {{0xe00, 0xeff},   {0x1000, 0x109f},   {0x1780, 0x17ff},
                                         {0x2600, 0x27bf}, {0x3040, 0x30ff},   {0x3400, 0x9fff},
                                         {0xf900, 0xfaff}, {0x1f000, 0x1faff}, {0x20000, 0x3ffff}};

template <std::size_t n>
bool is_in(const CodePoints (&ranges)[n], char32_t letter) {
  return std::ranges::any_of(ranges, [&](const CodePoints& range) {
    return letter >= range.first && letter <= range.last;
  });
}

/// Returns the small letter of Latin, Greek, Cyrillic or Armenian, else the same.
char32_t small_letter(char32_t letter) {
  const auto is_between = [&](char32_t first, char32_t last) {
    return letter >= first && letter <= last;
  };
  if (is_between('A', 'Z') || is_between(0xc0, 0xde) || is_between(0x391, 0x3a9) ||
      is_between(0x410, 0x42f))
    return letter + 0x20;
  if (is_between(0x100, 0x137) || is_between(0x14a, 0x177) || is_between(0x460, 0x481) ||
      is_between(0x48a, 0x4bf) || is_between(0x4d0, 0x52f) || is_between(0x1e00, 0x1eff))
    return letter | 1;
  if (is_between(0x139, 0x148) || is_between(0x179, 0x17e)) return letter + letter % 2;
  if (is_between(0x400, 0x40f)) return letter + 0x50;
  return is_between(0x531, 0x556) ? letter + 0x30 : letter;
}

/// Returns the code point of the first character, which has this many bytes.
char32_t code_point(std::string_view text, std::size_t bytes) {
  if (bytes == 1) return static_cast<unsigned char>(text[0]);
  char32_t letter = static_cast<unsigned char>(text[0]) & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i)
    letter = letter << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  return letter;
}

void append_utf8(std::string& text, char32_t letter) {
  if (letter < 0x80) return text.push_back(char(letter));
  const int more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
  text.push_back(char(0xff00u >> (more + 1) | letter >> 6 * more));
  for (int i = more - 1; i >= 0; --i) text.push_back(char(0x80u | (letter >> 6 * i & 0x3fu)));
}

bool is_separator(char32_t letter) {
  if (letter >= 0x80) return is_in(separators, letter);
  return !(letter >= '0' && letter <= '9') && small_letter(letter) - 'a' >= 26;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool is_open = false;
  while (!text.empty()) {
    const std::size_t bytes = utf8_size(text);
    const char32_t letter = bytes > 0 ? code_point(text, bytes) : 0;
    const bool is_single = bytes > 1 && is_in(single_letters, letter),
               ends = bytes > 0 && is_separator(letter);
    if (!ends && (!is_open || is_single)) words.emplace_back();
    if (!ends && bytes == 0) words.back().push_back(text[0]);
    if (!ends && bytes > 0) append_utf8(words.back(), small_letter(letter));
    is_open = !ends && !is_single;
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return words;
}

std::vector<std::string> terms_of(std::string_view text, std::size_t longest) {
  const std::vector<std::string> words = words_of(text);
  std::vector<std::string> terms;
  for (std::size_t first = 0; first < words.size(); ++first) {
    std::string term = words[first];
    terms.push_back(term);
    for (std::size_t i = first + 1; i < std::min(first + longest, words.size()); ++i)
      terms.push_back(term += " " + words[i]);
  }
  return terms;
}

std::vector<std::string> frequent_terms(const std::vector<std::string_view>& texts,
                                        std::size_t longest, std::size_t most) {
  std::unordered_map<std::string, std::size_t> counts;
  for (const std::string_view text : texts) {
    std::vector<std::string> terms = terms_of(text, longest);
    std::ranges::sort(terms);
    terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
    for (std::string& term : terms) ++counts[std::move(term)];
  }
  std::vector<std::size_t> with(texts.size() + 2);  // terms that exactly i texts have
  for (const auto& [term, count] : counts) ++with[count];
  std::size_t least = texts.size() + 1, terms = 0;
  while (least > 1 && terms + with[least - 1] <= most) terms += with[--least];
  std::vector<std::string> frequent;
  for (const auto& [term, count] : counts)
    if (count >= least) frequent.push_back(term);
  std::ranges::sort(frequent);
  return frequent;
}

TermNumbers::TermNumbers(const std::vector<std::string>& terms, std::size_t longest)
    : longest_(longest) {
  for (const std::string& term : terms) numbers_.emplace(term, numbers_.size());
}

std::vector<std::uint32_t> TermNumbers::in(std::string_view text) const {
  std::vector<std::uint32_t> numbers;
  for (const std::string& term : terms_of(text, longest_))
    if (const auto found = numbers_.find(term); found != numbers_.end())
      numbers.push_back(found->second);
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace bochner

#pragma once
#include <bochner/data/text/token_windows.hpp>
#include <string>
#include <string_view>

namespace bochner {

/// Most bytes of a line that is cut into pieces at once.
inline constexpr std::size_t longest_line = 1 << 16;

/// The first line of a text with its end; of one above `most` bytes its front, which ends behind a
/// space, or between characters.
std::string_view front_line(std::string_view text, std::size_t most = longest_line);

/// The lines of a text of any size, as front_line() cuts them.
class LineReader {
 public:
  explicit LineReader(const ByteCorpus& text, std::size_t longest = longest_line);
  /// The next line, until the one after it is asked for; "" at the end.
  std::string_view next();
  /// Bytes of the text that were read, this line's included.
  std::uint64_t place() const { return filled_ - rest_.size(); }

 private:
  void fill();

  const ByteCorpus& text_;
  std::size_t longest_;
  std::string block_;
  std::string_view rest_;
  std::uint64_t filled_ = 0;  ///< bytes that were taken into blocks
};

}  // namespace bochner

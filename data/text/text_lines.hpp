#pragma once
#include <bochner/data/text/token_windows.hpp>
#include <string>
#include <string_view>

namespace bochner {

/// Largest part of a line that is encoded at once.
inline constexpr std::size_t longest_line = 1 << 16;

/// Returns the first line of a text with its end; of a line longer than `most` bytes its front, cut
/// after a space or between characters.
std::string_view front_line(std::string_view text, std::size_t most = longest_line);

/// Reader of the lines of a text of any size, as front_line() cuts them.
class LineReader {
 public:
  explicit LineReader(const ByteCorpus& text, std::size_t longest = longest_line);
  /// Returns the next line, valid until the next call; "" at the end.
  std::string_view next();
  /// Returns the bytes read so far, with this line.
  std::uint64_t place() const { return filled_ - rest_.size(); }

 private:
  void fill();

  const ByteCorpus& text_;
  std::size_t longest_;
  std::string block_;
  std::string_view rest_;
  std::uint64_t filled_ = 0;  ///< bytes read into blocks
};

}  // namespace bochner

#include <algorithm>
#include <bochner/data/text/text_lines.hpp>

namespace bochner {
namespace {

constexpr std::size_t bytes_of_block = 1 << 22;

}  // namespace

std::string_view front_line(std::string_view text, std::size_t most) {
  const std::string_view front = text.substr(0, most);
  if (const std::size_t end = front.find('\n'); end != front.npos) return front.substr(0, end + 1);
  if (front.size() == text.size()) return text;
  if (const std::size_t space = front.rfind(' '); space != front.npos)
    return front.substr(0, space + 1);
  std::size_t size = front.size();
  for (int i = 0; i < 3 && size > 1 && (static_cast<unsigned char>(text[size]) & 0xc0u) == 0x80u;
       ++i)
    --size;
  return front.substr(0, size);
}

LineReader::LineReader(const ByteCorpus& text, std::size_t longest)
    : text_(text), longest_(longest) {}

void LineReader::fill() {
  const std::uint64_t more =
      std::min<std::uint64_t>(text_.size() - filled_, bytes_of_block + longest_ - rest_.size());
  std::string block(rest_);
  block.resize(rest_.size() + more);
  text_.read(filled_, {reinterpret_cast<std::uint8_t*>(block.data()) + rest_.size(), more});
  filled_ += more;
  block_ = std::move(block);
  rest_ = block_;
}

std::string_view LineReader::next() {
  if (rest_.size() <= longest_ && filled_ < text_.size()) fill();
  const std::string_view line = front_line(rest_, longest_);
  rest_.remove_prefix(line.size());
  return line;
}

}  // namespace bochner

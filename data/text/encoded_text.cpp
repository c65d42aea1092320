#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/text/encoded_text.hpp>

namespace bochner {
namespace {

constexpr std::size_t lines_at_once = 4096, lines_of_task = 32;
constexpr std::size_t bytes_at_once = 1 << 20;

struct TokenFooter {
  char magic[8] = {'B', 'O', 'C', 'H', 'T', 'O', 'K', '1'};
  std::uint64_t id = 0, tokens = 0, width = 0;
  std::uint64_t text_bytes = 0;   ///< bytes of the text
  std::uint64_t token_bytes = 0;  ///< bytes that the tokens decode to
  std::uint64_t digest = 0;       ///< digest of the tokens and of this footer
};

std::uint64_t digest_with(std::uint64_t tokens_digest, TokenFooter end) {
  end.digest = tokens_digest;
  return digest_of(&end, sizeof(end));
}

std::size_t width_of(const Tokenizer& tokenizer) { return tokenizer.vocabulary() <= 65536 ? 2 : 4; }

void append_tokens(const std::vector<std::int32_t>& tokens, std::size_t width, std::string& out) {
  for (const std::int32_t token : tokens)
    out.append(reinterpret_cast<const char*>(&token), width);  // little-endian
}

std::vector<std::string> some_lines(LineReader& reader) {
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  while (lines.size() < lines_at_once && bytes < bytes_at_once) {
    const std::string_view line = reader.next();
    if (line.empty()) break;
    lines.emplace_back(line);
    bytes += line.size();
  }
  return lines;
}

std::vector<std::vector<std::int32_t>> encoded(const std::vector<std::string>& lines,
                                               const Tokenizer& tokenizer) {
  std::vector<std::vector<std::int32_t>> tokens(lines.size());
  parallel_each(lines.size(), lines_of_task,
                [&](std::size_t i) { tokens[i] = tokenizer.encode(lines[i]); });
  return tokens;
}

}  // namespace

std::uint64_t encoding_id(const ByteCorpus& text, const Tokenizer& tokenizer) {
  const std::uint64_t marks = text.marks();
  const std::uint64_t parts[] = {marks != 0 ? marks : *text.fingerprint({}), tokenizer.digest()};
  return digest_of(parts, sizeof(parts));
}

void write_encoded(const ByteCorpus& text, const Tokenizer& tokenizer, const Sink& sink,
                   const std::function<void()>& poll) {
  TokenFooter end;
  end.id = encoding_id(text, tokenizer);
  end.width = width_of(tokenizer);
  end.text_bytes = text.size();
  Digest digest;
  LineReader reader(text);
  while (true) {
    if (poll) poll();
    const std::vector<std::string> lines = some_lines(reader);
    if (lines.empty()) break;
    std::string bytes;
    for (const std::vector<std::int32_t>& tokens : encoded(lines, tokenizer)) {
      append_tokens(tokens, end.width, bytes);
      end.tokens += tokens.size();
      for (const std::int32_t token : tokens)
        end.token_bytes += tokenizer.bytes(token, false).size();
    }
    digest.update(bytes.data(), bytes.size());
    sink(bytes);
  }
  end.digest = digest_with(digest.value(), end);
  sink({reinterpret_cast<const char*>(&end), sizeof(end)});
}

EncodedText::EncodedText(const ByteCorpus& text, const Tokenizer& tokenizer) {
  write_encoded(text, tokenizer, [&](std::string_view piece) {
    held_.insert(held_.end(), piece.begin(), piece.end());
  });
  read_footer(held_.size(), encoding_id(text, tokenizer), "tokens");
}

EncodedText::EncodedText(const std::filesystem::path& file, std::uint64_t id) : file_(file) {
  read_footer(file_->size(), id, file.string());
}

void EncodedText::read_footer(std::uint64_t bytes, std::uint64_t id, const std::string& name) {
  TokenFooter end;
  const auto refuse = [&](const char* why) {
    throw DataError(name, ": ", why, "; remove it, and it is recreated from the text");
  };
  if (bytes < sizeof(end)) refuse("is too short to hold the tokens of a text");
  read_bytes(bytes - sizeof(end), {reinterpret_cast<std::uint8_t*>(&end), sizeof(end)});
  const std::uint64_t held = bytes - sizeof(end);
  if (std::memcmp(end.magic, TokenFooter().magic, sizeof(end.magic)) != 0 ||
      (end.width != 2 && end.width != 4) || held % end.width != 0 || end.tokens != held / end.width)
    refuse("does not hold the tokens of a text, or is damaged");
  if (end.id != id) refuse("holds the tokens of another text or tokenizer");
  Digest digest;
  std::vector<std::uint8_t> block(bytes_at_once);
  for (std::uint64_t at = 0; at < held; at += block.size()) {
    const std::span part(block.data(), std::min<std::uint64_t>(block.size(), held - at));
    read_bytes(at, part);
    digest.update(part.data(), part.size());
  }
  if (end.digest != digest_with(digest.value(), end)) refuse("is damaged");
  size_ = end.tokens;
  width_ = end.width;
  if (end.token_bytes > 0) bytes_ratio_ = double(end.text_bytes) / double(end.token_bytes);
}

void EncodedText::read_bytes(std::uint64_t begin, std::span<std::uint8_t> out) const {
  if (file_) return file_->read_at(begin, out);
  std::copy_n(held_.begin() + std::ptrdiff_t(begin), out.size(), out.begin());
}

void EncodedText::read(std::uint64_t begin, std::span<std::int32_t> out) const {
  std::vector<std::uint8_t> bytes(out.size() * width_);
  read_bytes(begin * width_, bytes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint32_t token = 0;
    std::memcpy(&token, bytes.data() + i * width_, width_);
    out[i] = std::int32_t(token);
  }
}

WordWindows::WordWindows(ByteCorpus corpus, EncodedText tokens,
                         std::shared_ptr<const Tokenizer> tokenizer, std::size_t length,
                         double validation, std::uint64_t seed)
    : TextWindows(std::move(corpus), length),
      tokens_(std::move(tokens)),
      tokenizer_(std::move(tokenizer)) {
  split(tokens_.size(), "tokens", validation, seed);
}

double WordWindows::bytes_of(const Indices& tokens) const {
  std::uint64_t bytes = 0;
  for (const std::int32_t token : tokens.values) bytes += tokenizer_->bytes(token, false).size();
  return double(bytes) * tokens_.bytes_ratio();
}

std::string WordWindows::describe() const {
  return TextWindows::describe() + " in " + format_count(double(tokens_.size())) + " tokens of " +
         std::to_string(tokenizer_->vocabulary()) + " kinds";
}

std::string WordWindows::describe_splits() const {
  return format_count(double(train_size())) + " to train, " +
         format_count(double(validation_size())) + " to validate";
}

}  // namespace bochner

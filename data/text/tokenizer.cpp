#include <array>
#include <bochner/data/text/tokenizer.hpp>

namespace bochner {
namespace {

class ByteTokenizer : public Tokenizer {
 public:
  ByteTokenizer() {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = char(i);
  }
  std::size_t vocabulary() const override { return bytes_.size(); }
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    tokens.reserve(text.size());
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  }
  std::string_view bytes(std::int32_t token, bool) const override {
    return {&bytes_[std::size_t(token)], 1};
  }
  std::size_t longest() const override { return 1; }
  std::uint64_t digest() const override { return 0; }

 private:
  std::array<char, 256> bytes_;
};

}  // namespace

std::string_view TextDecoder::next(std::int32_t token) {
  const std::string_view bytes = tokenizer_->bytes(token, begins_line_);
  if (!bytes.empty()) begins_line_ = bytes.ends_with('\n');
  return bytes;
}

std::string decode(const Tokenizer& tokenizer, const std::vector<std::int32_t>& tokens) {
  TextDecoder decoder(tokenizer);
  std::string text;
  for (const std::int32_t token : tokens) text += decoder.next(token);
  return text;
}

std::unique_ptr<Tokenizer> make_byte_tokenizer() { return std::make_unique<ByteTokenizer>(); }

}  // namespace bochner

#pragma once
#include <bochner/data/formats/npy.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/data/text/tokenizer.hpp>

namespace bochner {

/// Texts of more bytes are encoded once and cached on disk.
inline constexpr std::uint64_t encoded_in_memory = 16 << 20;

/// Identifies the text and the tokenizer of encoded tokens. Does not read large texts, but takes
/// ByteCorpus::marks() of their files.
std::uint64_t encoding_id(const ByteCorpus& text, const Tokenizer& tokenizer);

/// Writes the tokens of a text, 2 or 4 bytes each, and a footer that identifies them, with their
/// digest. Encodes lines in parallel; reads the text in pieces. Calls `poll` now and then, which
/// may throw: the output is then incomplete.
void write_encoded(const ByteCorpus& text, const Tokenizer& tokenizer, const Sink& sink,
                   const std::function<void()>& poll = {});

/// Tokens of a text, held in memory or read from a file of write_encoded().
class EncodedText {
 public:
  EncodedText(const ByteCorpus& text, const Tokenizer& tokenizer);
  /// Reads a file once. Throws DataError if it is damaged or has another encoding_id().
  EncodedText(const std::filesystem::path& file, std::uint64_t id);

  std::uint64_t size() const { return size_; }
  /// Returns the bytes of the text per byte of its decoded tokens: 1 if decoding restores the text.
  double bytes_ratio() const { return bytes_ratio_; }
  void read(std::uint64_t begin, std::span<std::int32_t> out) const;

 private:
  void read_footer(std::uint64_t bytes, std::uint64_t id, const std::string& name);
  void read_bytes(std::uint64_t begin, std::span<std::uint8_t> out) const;

  Bytes held_;
  std::optional<RegularFile> file_;
  std::uint64_t size_ = 0;
  std::size_t width_ = 2;
  double bytes_ratio_ = 1;
};

class WordWindows : public TextWindows {
 public:
  WordWindows(ByteCorpus corpus, EncodedText tokens, std::shared_ptr<const Tokenizer> tokenizer,
              std::size_t length, double validation, std::uint64_t seed);
  double bytes_of(const Indices& tokens) const override;

 protected:
  void read(std::uint64_t begin, std::span<std::int32_t> out) const override {
    tokens_.read(begin, out);
  }
  /// Describes the data: "412 files, 9.1 MB in 2.41M tokens of 8000 kinds".
  std::string describe() const override;
  /// Describes the splits: "2.17M to train, 241k to validate".
  std::string describe_splits() const override;

 private:
  EncodedText tokens_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace bochner

#pragma once
#include <bochner/data/formats/npz.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/data/text/tokenizer.hpp>
#include <functional>
#include <optional>

namespace bochner {

/// Texts of more bytes are encoded once and kept on the disk.
inline constexpr std::uint64_t encoded_in_memory = 16 << 20;

/// Tells which text and which tokenizer encoded tokens are of, without reading the text where it is
/// large: what the system says of its files stands for it, ByteCorpus::marks().
std::uint64_t encoding_id(const ByteCorpus& text, const Tokenizer& tokenizer);

/// Writes the tokens of a text, 2 or 4 bytes each, and behind them what they are and their digest.
/// Lines are encoded in parallel; the text is read in pieces. `look` is called now and then and may
/// throw: what was written is worth nothing then.
void write_encoded(const ByteCorpus& text, const Tokenizer& tokenizer, const Sink& sink,
                   const std::function<void()>& look = {});

/// The tokens of a text, held in memory or read from what write_encoded() wrote.
class EncodedText {
 public:
  EncodedText(const ByteCorpus& text, const Tokenizer& tokenizer);
  /// Reads all of it once. Throws DataError where it is damaged or of another text or tokenizer,
  /// as encoding_id() tells them.
  EncodedText(const std::filesystem::path& file, std::uint64_t id);

  std::uint64_t size() const { return size_; }
  /// How many bytes of the text stand for each that its tokens would write: 1 where they write it.
  double bytes_ratio() const { return bytes_ratio_; }
  /// Copies the tokens begin, begin + 1, ...
  void read(std::uint64_t begin, std::span<std::int32_t> out) const;

 private:
  void take_end(std::uint64_t bytes, std::uint64_t id, const std::string& name);
  void read_bytes(std::uint64_t begin, std::span<std::uint8_t> out) const;

  Bytes held_;
  std::optional<RegularFile> file_;
  std::uint64_t size_ = 0;
  std::size_t width_ = 2;
  double bytes_ratio_ = 1;
};

}  // namespace bochner

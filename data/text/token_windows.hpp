#pragma once

#include <bochner/base/shape.hpp>
#include <bochner/data/dataset.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <stop_token>

namespace bochner {

/// Tokens and their next tokens. (B, T), (B, T)
struct Batch {
  Indices inputs;
  Indices targets;
};

class TokenSource : public Dataset {
 public:
  virtual Batch batch(const Examples& examples) const = 0;

 protected:
  using Dataset::Dataset;
};

/// Concatenated bytes of files. A run of days keeps the files it began with (FileList). They are
/// read in pieces, not mapped: truncating a mapped file would end the process. Throws as
/// RegularFile does.
class ByteCorpus {
 public:
  explicit ByteCorpus(const std::vector<std::filesystem::path>& files);

  std::uint64_t size() const { return starts_.back(); }
  std::size_t file_count() const { return files_.count(); }
  /// Returns the XXH64 of file borders and contents, for any names of files. Reads all bytes, at
  /// the speed of the disk; returns nothing after a stop request.
  std::optional<std::uint64_t> fingerprint(std::stop_token stop) const;
  /// Hashes the files' metadata (size, modification times, inode): equal marks mean equal contents,
  /// unless someone forges them. 0 up to 64 MiB, which are read quickly.
  std::uint64_t marks() const;
  std::uint64_t file_marks() const;
  /// Copies the bytes begin, begin + 1, ... across file borders. Throws std::invalid_argument
  /// beyond the end, DataError if a file was truncated.
  void read(std::uint64_t begin, std::span<std::uint8_t> out) const;

 private:
  FileList files_;
  std::vector<std::uint64_t> starts_;  ///< first byte of each file, then the size of all
};

/// Windows of `length` tokens of a text for next-token prediction. The last tokens validate, see
/// held_out(), in windows without overlap; the others train. Every epoch cuts the training tokens
/// at another offset and visits the windows in another order, both functions of (seed, epoch); it
/// has up to two windows fewer than fit, so that any offset is possible. Throws DataError when a
/// part is shorter than one window.
class TextWindows : public TokenSource {
 public:
  const ByteCorpus* corpus() const override { return &corpus_; }
  /// Returns a batch; that of rest() is a shorter window.
  Batch batch(const Examples& examples) const override;
  /// Returns the tokens after the last whole validation window.
  Examples rest(Split split) const override;
  std::uint64_t tokens_per_example() const override { return length_; }
  std::uint64_t fingerprint() const override { return *corpus_.fingerprint({}); }
  /// Returns the bytes of text that these tokens decode to.
  virtual double bytes_of(const Indices& tokens) const { return double(tokens.values.size()); }

 protected:
  TextWindows(ByteCorpus corpus, std::size_t length)
      : corpus_(std::move(corpus)), length_(length) {}
  /// Splits this many tokens; `called` names them in errors.
  void split(std::uint64_t tokens, const char* called, double validation, std::uint64_t seed);
  virtual void read(std::uint64_t begin, std::span<std::int32_t> out) const = 0;
  std::uint64_t train_size() const { return train_size_; }
  std::uint64_t validation_size() const { return size_ - train_size_; }
  /// Describes the files: "412 files, 9.1 MB".
  std::string describe() const override;

  ByteCorpus corpus_;

 private:
  std::uint64_t begin(Split split, const Examples::Number& number) const;

  std::size_t length_;
  std::uint64_t size_ = 0, train_size_ = 0;
};

class ByteWindows : public TextWindows {
 public:
  ByteWindows(ByteCorpus corpus, std::size_t length, double validation, std::uint64_t seed);
  std::uint64_t train_bytes() const { return train_size(); }
  std::uint64_t validation_bytes() const { return validation_size(); }

 protected:
  void read(std::uint64_t begin, std::span<std::int32_t> out) const override;
  /// Describes the splits: "8.2 MB to train, 0.9 MB to validate".
  std::string describe_splits() const override;
};

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

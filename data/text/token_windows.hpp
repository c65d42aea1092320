#pragma once

#include <bochner/base/shape.hpp>
#include <bochner/data/dataset.hpp>
#include <bochner/data/files/file_list.hpp>
#include <optional>
#include <stop_token>
#include <utility>

namespace bochner {

/// Tokens and the tokens that follow them. (B, T), (B, T)
struct Batch {
  Indices inputs;
  Indices targets;
};

/// Examples for a language model.
class TokenSource : public Dataset {
 public:
  /// (B, T)
  virtual Batch batch(const Examples& examples) const = 0;

 protected:
  using Dataset::Dataset;
};

/// The bytes of files one after the other. A run of days sees those it began with (FileList), and
/// they are read piece by piece; they are not mapped, because a file that is shortened meanwhile
/// would end the process. Throws as RegularFile does.
class ByteCorpus {
 public:
  explicit ByteCorpus(const std::vector<std::filesystem::path>& files);

  std::uint64_t size() const { return starts_.back(); }
  std::size_t file_count() const { return files_.count(); }
  /// XXH64 of the file borders and the contents, whatever the names of the files: equal data, equal
  /// fingerprint. All bytes are read, at the speed of the disk; nothing is returned when a stop
  /// was asked for.
  std::optional<std::uint64_t> fingerprint(std::stop_token stop) const;
  /// Of what the system says of the files (size, times of the last changes, inode): equal marks,
  /// equal contents, unless somebody sees to the opposite. 0 up to 64 MiB, which are quickly read.
  std::uint64_t marks() const;
  /// The same of small ones too.
  std::uint64_t file_marks() const;
  /// Copies the bytes begin, begin + 1, ... across file borders. Throws std::invalid_argument
  /// beyond the end, DataError where a file has become shorter.
  void read(std::uint64_t begin, std::span<std::uint8_t> out) const;

 private:
  FileList files_;
  std::vector<std::uint64_t> starts_;  ///< first byte of each file, then the size of all
};

/// Windows of `length` tokens of a text for next-token prediction. The last tokens validate, see
/// held_out(), in windows without overlap, and the others train. Every epoch cuts the training
/// tokens at another offset and visits the windows in another order, both functions of (seed,
/// epoch); it has up to two windows less than fit, so that any offset is possible. Throws DataError
/// when a part is shorter than one window.
class TextWindows : public TokenSource {
 public:
  const ByteCorpus* corpus() const override { return &corpus_; }
  /// Of rest(), a shorter window.
  Batch batch(const Examples& examples) const override;
  /// The tokens behind the last whole window of validation.
  Examples rest(Split split) const override;
  std::uint64_t tokens_per_example() const override { return length_; }
  std::uint64_t fingerprint() const override { return *corpus_.fingerprint({}); }
  /// Bytes of the text that these tokens stand for.
  virtual double bytes_of(const Indices& tokens) const { return double(tokens.values.size()); }

 protected:
  TextWindows(ByteCorpus corpus, std::size_t length)
      : corpus_(std::move(corpus)), length_(length) {}
  /// Of so many tokens; what they are called stands in errors.
  void split(std::uint64_t tokens, const char* called, double validation, std::uint64_t seed);
  /// Copies the tokens begin, begin + 1, ...
  virtual void read(std::uint64_t begin, std::span<std::int32_t> out) const = 0;
  std::uint64_t train_size() const { return train_size_; }
  std::uint64_t validation_size() const { return size_ - train_size_; }
  /// "412 files, 9.1 MB"
  std::string describe() const override;

  ByteCorpus corpus_;

 private:
  std::uint64_t begin(Split split, const Examples::Number& number) const;

  std::size_t length_;
  std::uint64_t size_ = 0, train_size_ = 0;
};

/// Tokens are bytes.
class ByteWindows : public TextWindows {
 public:
  ByteWindows(ByteCorpus corpus, std::size_t length, double validation, std::uint64_t seed);
  std::uint64_t train_bytes() const { return train_size(); }
  std::uint64_t validation_bytes() const { return validation_size(); }

 protected:
  void read(std::uint64_t begin, std::span<std::int32_t> out) const override;
  /// "8.2 MB to train, 0.9 MB to validate"
  std::string describe_splits() const override;
};

}  // namespace bochner

#pragma once
#include <bochner/data/text/encoded_text.hpp>

namespace bochner {

/// Windows of the pieces of words that a tokenizer makes of a text.
class WordWindows : public TextWindows {
 public:
  /// `tokens` are those of the corpus.
  WordWindows(ByteCorpus corpus, EncodedText tokens, std::shared_ptr<const Tokenizer> tokenizer,
              std::size_t length, double validation, std::uint64_t seed);
  double bytes_of(const Indices& tokens) const override;

 protected:
  void read(std::uint64_t begin, std::span<std::int32_t> out) const override;
  /// "412 files, 9.1 MB in 2.41M tokens of 8000 kinds"
  std::string describe() const override;
  /// "2.17M to train, 241k to validate"
  std::string describe_splits() const override;

 private:
  EncodedText tokens_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace bochner

#pragma once
#include <bochner/data/text/encoded_text.hpp>

namespace bochner {

class WordWindows : public TextWindows {
 public:
  WordWindows(ByteCorpus corpus, EncodedText tokens, std::shared_ptr<const Tokenizer> tokenizer,
              std::size_t length, double validation, std::uint64_t seed);
  double bytes_of(const Indices& tokens) const override;

 protected:
  void read(std::uint64_t begin, std::span<std::int32_t> out) const override;
  /// Describes the data: "412 files, 9.1 MB in 2.41M tokens of 8000 kinds".
  std::string describe() const override;
  /// Describes the splits: "2.17M to train, 241k to validate".
  std::string describe_splits() const override;

 private:
  EncodedText tokens_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace bochner

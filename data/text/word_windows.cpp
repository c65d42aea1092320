#include <bochner/base/text.hpp>
#include <bochner/data/text/word_windows.hpp>

namespace bochner {

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

void WordWindows::read(std::uint64_t begin, std::span<std::int32_t> out) const {
  tokens_.read(begin, out);
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

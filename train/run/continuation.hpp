#pragma once
#include <bochner/data/text/tokenizer.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/run/sampling.hpp>
#include <functional>
#include <limits>
#include <span>
#include <string>

namespace bochner {

/// Feeds texts to a model side by side, token by token. Behind `limit` positions, those that it was
/// trained on or can tell apart, it starts again on the last half of them.
class TextStreams {
 public:
  TextStreams(LanguageModel& model, std::size_t limit)
      : model_(model), limit_(limit), state_(model.start()) {}

  /// The next token of each text.
  void feed(const std::vector<std::int32_t>& tokens);
  /// Of the tokens to come. (B, V)
  const Tensor& logits() const { return logits_; }

 private:
  void restart();

  LanguageModel& model_;
  std::size_t limit_;
  LanguageModel::State state_;
  std::vector<std::vector<std::int32_t>> recent_;
  Tensor logits_;
};

struct ContinuationOptions {
  SamplingOptions sampling;
  std::uint64_t bytes = 300, seed = 1;
  std::size_t positions =
      std::numeric_limits<std::size_t>::max();  ///< that the model can tell apart
};

/// Bytes after each prompt, none of which may be without tokens, all in step: while a long prompt
/// is read, others are continued already. A text ends with the token that reaches options.bytes, or
/// behind as many tokens. Random numbers are functions of the seed, the number of a text, counted
/// from `first`, and that of a token; `said` is called with a text's index here and the bytes of
/// each of its tokens in order.
void continue_texts(LanguageModel& model, const Tokenizer& tokenizer,
                    std::span<const std::string> prompts, std::uint64_t first,
                    const ContinuationOptions& options,
                    const std::function<void(std::size_t, std::string_view)>& said);

}  // namespace bochner

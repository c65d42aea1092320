#pragma once
#include <bochner/data/text/tokenizer.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/run/sampling.hpp>
#include <functional>
#include <limits>
#include <span>
#include <string>

namespace bochner {

/// Feeds texts to a model in parallel, token by token. After `limit` positions, the most that it
/// was trained on or can distinguish, it restarts on the last half of them.
class TextStreams {
 public:
  TextStreams(LanguageModel& model, std::size_t limit)
      : model_(model), limit_(limit), state_(model.start()) {}

  /// Feeds the next token of each text.
  void feed(const std::vector<std::int32_t>& tokens);
  /// Returns the logits of the next tokens. (B, V)
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
  /// Positions that the model can distinguish.
  std::size_t positions = std::numeric_limits<std::size_t>::max();
};

/// Continues all prompts in step, each of at least one token; while a long prompt is read, others
/// are already continued. A text ends with the token that reaches options.bytes, or after as many
/// tokens. Random numbers are functions of the seed, the text's number, counted from `first`, and
/// the token's. Calls on_text(index of the text here, bytes of the token) for each token in order.
void continue_texts(LanguageModel& model, const Tokenizer& tokenizer,
                    std::span<const std::string> prompts, std::uint64_t first,
                    const ContinuationOptions& options,
                    const std::function<void(std::size_t, std::string_view)>& on_text);

}  // namespace bochner

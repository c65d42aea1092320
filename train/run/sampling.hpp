#pragma once
/// Sampling of tokens from logits, and continuation of texts.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/data/text/tokenizer.hpp>
#include <bochner/layers/models/token_models.hpp>

namespace bochner {

struct SamplingOptions {
  double temperature = 1;  ///< 0 takes the most probable token
  std::size_t top_k = 0;   ///< only the k most probable tokens; 0 for all
  double top_p = 1;        ///< only the most probable tokens that together reach this probability
  bool operator==(const SamplingOptions&) const = default;
};

/// Throws std::invalid_argument if an option is out of range.
void check_sampling(const SamplingOptions& options);

/// Returns the token at quantile u in (0, 1) of softmax(logits / temperature) after both cuts, most
/// probable first; ties in token order. logits (V)
std::int32_t sample_token(const Tensor& logits, const SamplingOptions& options, double u);

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

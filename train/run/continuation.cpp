#include <algorithm>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/train/run/continuation.hpp>

namespace bochner {

void TextStreams::feed(const std::vector<std::int32_t>& tokens) {
  if (state_.position == limit_) restart();
  if (limit_ != std::numeric_limits<std::size_t>::max()) recent_.push_back(tokens);
  logits_ = model_.step(tokens, state_);
}

void TextStreams::restart() {
  const std::size_t kept = std::min(ceil_div(recent_.size(), 2), limit_ - 1);
  recent_.erase(recent_.begin(), recent_.end() - std::ptrdiff_t(kept));
  state_ = model_.start();
  for (const std::vector<std::int32_t>& tokens : recent_) logits_ = model_.step(tokens, state_);
}

namespace {

/// Text that is being continued.
struct OpenText {
  std::vector<std::int32_t> prompt;
  TextDecoder decoder;
  std::uint64_t written = 0;  ///< bytes

  OpenText(const Tokenizer& tokenizer, const std::string& text)
      : prompt(tokenizer.encode(text)), decoder(tokenizer) {
    require(!prompt.empty(), "sample", "a prompt has no token of the model's vocabulary");
    for (const std::int32_t token : prompt) decoder.next(token);
  }
  /// Returns the number of tokens drawn after the prompt when `seen` tokens are read.
  std::uint64_t added(std::uint64_t seen) const { return seen - prompt.size(); }
  /// Whether another token is drawn after `seen` ones; at most `bytes` tokens and bytes are.
  bool continues(std::uint64_t seen, std::uint64_t bytes) const {
    return seen >= prompt.size() && added(seen) < bytes && written < bytes;
  }
};

/// Number of texts whose next tokens one thread draws.
constexpr std::size_t texts_of_task = 8;

}  // namespace

void continue_texts(LanguageModel& model, const Tokenizer& tokenizer,
                    std::span<const std::string> prompts, std::uint64_t first,
                    const ContinuationOptions& options,
                    const std::function<void(std::size_t, std::string_view)>& on_text) {
  check_sampling(options.sampling);
  std::vector<OpenText> texts;
  for (const std::string& prompt : prompts) texts.emplace_back(tokenizer, prompt);
  TextStreams streams(model, std::min(model.position_limit(), options.positions));
  std::vector<std::int32_t> tokens(texts.size());
  std::size_t open = options.bytes > 0 ? texts.size() : 0;
  for (std::uint64_t t = 0; open > 0; ++t) {
    for (std::size_t b = 0; b < texts.size(); ++b)
      if (t < texts[b].prompt.size()) tokens[b] = texts[b].prompt[t];
    streams.feed(tokens);
    const std::size_t V = streams.logits().shape()[1];
    parallel_each(texts.size(), texts_of_task, [&](std::size_t b) {
      if (!texts[b].continues(t + 1, options.bytes)) return;
      Tensor logits = uninitialized({V});
      std::copy_n(streams.logits().data() + b * V, V, logits.data());
      const RandomFunction random{options.seed, Purpose::sampling, first + b};
      tokens[b] = sample_token(logits, options.sampling, random.uniform(texts[b].added(t + 1)));
    });
    for (std::size_t b = 0; b < texts.size(); ++b) {
      OpenText& text = texts[b];
      if (!text.continues(t + 1, options.bytes)) continue;
      const std::string_view bytes = text.decoder.next(tokens[b]);
      on_text(b, bytes);
      text.written += bytes.size();
      open -= text.written >= options.bytes || text.added(t + 1) + 1 == options.bytes;
    }
  }
}

}  // namespace bochner

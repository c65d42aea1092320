#include <algorithm>
#include <bochner/train/run/continuation.hpp>

namespace bochner::inline BOCHNER_PRECISION {

void TextStreams::feed(const std::vector<std::int32_t>& tokens) {
  if (state_.position == limit_) restart();
  if (limit_ != std::numeric_limits<std::size_t>::max()) recent_.push_back(tokens);
  logits_ = model_.step(tokens, state_);
}

void TextStreams::restart() {
  recent_.erase(recent_.begin(), recent_.end() - std::ptrdiff_t((recent_.size() + 1) / 2));
  state_ = model_.start();
  for (const std::vector<std::int32_t>& tokens : recent_) logits_ = model_.step(tokens, state_);
}

void continue_texts(LanguageModel& model, std::span<const std::string> prompts, std::uint64_t first,
                    const ContinuationOptions& options,
                    const std::function<void(std::size_t, char)>& said) {
  check_sampling(options.sampling);
  const std::uint64_t longest = std::ranges::max(prompts, {}, &std::string::size).size();
  TextStreams streams(model, std::min(model.position_limit(), options.positions));
  std::vector<std::int32_t> tokens(prompts.size());
  for (std::uint64_t t = 0; t + 1 < longest + options.bytes; ++t) {
    for (std::size_t b = 0; b < prompts.size(); ++b)
      if (t < prompts[b].size()) tokens[b] = static_cast<unsigned char>(prompts[b][t]);
    streams.feed(tokens);
    const std::size_t V = streams.logits().shape()[1];
    for (std::size_t b = 0; b < prompts.size(); ++b) {
      const std::uint64_t byte = t + 1 - prompts[b].size();  // wraps while the prompt is read
      if (byte >= options.bytes) continue;
      Tensor logits = uninitialized({V});
      std::copy_n(streams.logits().data() + b * V, V, logits.data());
      const RandomFunction random{options.seed, Purpose::sampling, first + b};
      tokens[b] = sample_token(logits, options.sampling, random.uniform(byte));
      said(b, char(tokens[b]));
    }
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION

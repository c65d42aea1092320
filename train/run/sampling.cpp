#include <bochner/base/numeric/parallel.hpp>
#include <bochner/train/run/sampling.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

/// Tokens by descending logit, ties in token order; a heap, because few of many are needed.
class RankedTokens {
 public:
  explicit RankedTokens(const Tensor& logits)
      : comes_later_{logits.data()}, tokens_(logits.size()) {
    std::iota(tokens_.begin(), tokens_.end(), 0);
    std::ranges::make_heap(tokens_, comes_later_);
  }
  std::int32_t operator[](std::size_t rank) {
    for (; found_ <= rank; ++found_)
      std::pop_heap(tokens_.begin(), tokens_.end() - std::ptrdiff_t(found_), comes_later_);
    return tokens_[tokens_.size() - 1 - rank];
  }

 private:
  struct ComesLater {
    const real* logits;
    bool operator()(std::int32_t a, std::int32_t b) const {
      return logits[a] < logits[b] || (logits[a] == logits[b] && a > b);
    }
  };
  ComesLater comes_later_;
  std::size_t found_ = 0;             // at the end, the first one last
  std::vector<std::int32_t> tokens_;  // the others are a heap
};

/// Returns probabilities up to a common factor. (V)
std::vector<double> weights_of(const Tensor& logits, double top, double temperature) {
  std::vector<double> weights(logits.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = std::exp((double(logits.data()[i]) - top) / temperature);
  return weights;
}

/// Most probable tokens and the sum of their weights.
struct Candidates {
  std::size_t count;
  double total;
};

Candidates candidates(RankedTokens& ranked, const std::vector<double>& weights,
                      const SamplingOptions& options) {
  Candidates all{weights.size(), std::accumulate(weights.begin(), weights.end(), 0.0)};
  const auto cut = [&](std::size_t most, double wanted) {
    Candidates few{0, 0};
    while (few.count < most && few.total < wanted) few.total += weights[ranked[few.count++]];
    return few;
  };
  if (options.top_k > 0 && options.top_k < all.count)
    all = cut(options.top_k, std::numeric_limits<double>::infinity());
  return options.top_p < 1 ? cut(all.count, options.top_p * all.total) : all;
}

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

void check_sampling(const SamplingOptions& options) {
  require(std::isfinite(options.temperature) && options.temperature >= 0, "sample",
          "temperature = ", options.temperature, ": must be at least 0");
  require(options.top_p > 0 && options.top_p <= 1, "sample", "top-p = ", options.top_p,
          ": must be greater than 0 and at most 1");
}

std::int32_t sample_token(const Tensor& logits, const SamplingOptions& options, double u) {
  require(logits.size() > 0, "sample", "no logits");
  check_sampling(options);
  const bool are_numbers = std::all_of(logits.begin(), logits.end(), [](real logit) {
    return logit < std::numeric_limits<real>::infinity();
  });
  require(are_numbers, "sample",
          "a logit is NaN or infinite because weights of the model are, or its "
          "activations");
  RankedTokens ranked(logits);
  if (options.temperature == 0) return ranked[0];
  const std::vector<double> weights =
      weights_of(logits, double(logits.data()[ranked[0]]), options.temperature);
  const auto [count, total] = candidates(ranked, weights, options);
  double rest = u * total;
  for (std::size_t rank = 0; rank + 1 < count; ++rank) {
    const double weight = weights[ranked[rank]];
    if (rest < weight) return ranked[rank];
    rest -= weight;
  }
  return ranked[std::max<std::size_t>(count, 1) - 1];
}

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

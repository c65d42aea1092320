#pragma once
#include <bochner/base/keys.hpp>
#include <bochner/layers/module.hpp>
#include <cstdint>

namespace bochner::inline BOCHNER_PRECISION {

struct BagOfWordsSpec {
  std::size_t terms = 1, classes = 2, texts = 0;  ///< set later; texts to fit to
  std::size_t longest = 2;
  std::size_t vocabulary = 1 << 18;
  std::size_t folds = 5;

  /// Returns the most terms: fewer with many classes, to limit the memory.
  std::size_t most_terms() const {
    constexpr std::size_t most_weights = 1 << 20;
    return std::min(vocabulary, std::max<std::size_t>(1, most_weights / classes));
  }
};
inline void describe(Keys& keys, BagOfWordsSpec& spec) {
  keys("ngram", spec.longest, between(1, 8),
       "longest run of words that is a term: 1 for words alone, 2 also for pairs");
  keys("vocabulary", spec.vocabulary, between(1, 1 << 24),
       "most terms: those in the most texts, and at most a million weights of terms and classes");
  keys("folds", spec.folds, between(2, 100),
       "parts of the texts, each answered by a fit to the others, to choose the penalty and to say "
       "how good the answers are");
}

/// Terms of texts by number, ascending, each once a text: terms[begin[i]], ..., terms[begin[i + 1]
/// - 1] of text i.
struct TermSets {
  std::vector<std::size_t> begin = {0};
  std::vector<std::uint32_t> terms = {};

  std::size_t size() const { return begin.size() - 1; }
  void add(const std::vector<std::uint32_t>& text) {
    terms.insert(terms.end(), text.begin(), text.end());
    begin.push_back(terms.size());
  }
};

/// Answer to a text of a fit to others: its likeliest class.
struct HeldOutAnswer {
  std::int32_t label;
  double probability;
};

/// Bag of words: multinomial logistic regression with a ridge penalty on which terms a text has
/// (Pang, Lee, Vaithyanathan, "Thumbs up? Sentiment classification using machine learning
/// techniques", 2002). Term t has the weight 1 + ln((1 + n) / (1 + n_t)) if n_t of n texts have it,
/// and the weights of a text are scaled to unit length (Salton and Buckley, "Term-weighting
/// approaches in automatic text retrieval", 1988). Fitted at once, by L-BFGS in double; kept in
/// buffers.
class BagOfWords : public Module {
 public:
  explicit BagOfWords(const BagOfWordsSpec& spec);
  const BagOfWordsSpec& spec() const { return spec_; }
  /// Chooses the penalty with the least cross-entropy of held-out texts: text i is in fold i modulo
  /// model.folds. Then fits to all texts. labels: (n)
  void fit(const TermSets& texts, const std::vector<std::int32_t>& labels);
  /// Returns the probability of each class. -> (n, C)
  std::vector<double> probabilities(const TermSets& texts) const;
  /// Returns the answer to a text of fit() by the fit to the other folds.
  HeldOutAnswer held_out(std::size_t text) const;
  /// Returns what a term adds to the score of a class, before texts are scaled to unit length.
  double effect(std::size_t term, std::size_t label) const;
  void visit(Visitor& visitor) override;

 private:
  BagOfWordsSpec spec_;
  Tensor inverse_frequency_, weights_, bias_;  // (V), (V, C), (C)
  Tensor held_out_;                            // (texts, 2): class and probability
  Tensor penalty_;                             // (1)
};

}  // namespace bochner::inline BOCHNER_PRECISION

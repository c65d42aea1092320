#pragma once
/// Generated sequences with questions that test what a kernel can remember and find.

#include <bochner/base/registry.hpp>
#include <bochner/data/text/token_windows.hpp>

namespace bochner {

class TokenGenerator;
struct TokenTaskSpec;
using TokenGenerators = Registry<TokenGenerator, TokenTaskSpec>;
/// Registry of generated tasks of language models, named by data.kind; add custom ones here.
TokenGenerators& token_tasks();

/// Generated task. Everything is drawn uniformly; the answers are in brackets.
///
/// copy: n symbols, a marker, [the n symbols].
/// selective_copy: `items` symbols spread over noise, a marker, [the symbols in their order]. Gu
/// and Dao, "Mamba", 2023.
/// recall: pairs of key and value under a map of each sequence, a marker, a key that has occurred,
/// [its value]. The recipe of Fu et al., "H3", 2023.
/// multi_query_recall: `items` pairs with different keys and values; then each key once more in
/// another order, spread over noise values, followed by [its value]. After Arora et al., "Zoology",
/// 2023, where early questions are more frequent (gap_power .01) and noise, also after a question,
/// is any token.
/// induction: symbols with one marker among them, at the end the marker again, [what followed it
/// before]. Olsson et al., "In-context learning and induction heads", 2022.
/// parity, permutation_products: see state_tracking.hpp.
struct TokenTaskSpec {
  std::string kind = "recall";
  std::size_t length = 42;      ///< input tokens (T)
  std::size_t vocabulary = 20;  ///< one half keys, one half values
  std::size_t items = 16;       ///< symbols or pairs to remember, unless the length determines it
  bool only_answers = true;     ///< train on answers only, or on every token
  std::size_t validation_length = 0;  ///< T of validation and test; 0: `length`
  // multi_query_recall
  double gap_power = 1;  ///< slot i = 1, 2, .. after the pairs asks with weight i^(gap_power - 1)
  bool filled_with_all = false;  ///< noise is any token, not only values
  OwnSpecs own = {};             ///< specs of custom tasks

  TokenTaskSpec of(Split split) const;
};
inline void describe(Keys& keys, TokenTaskSpec& spec) {
  keys("vocabulary", spec.vocabulary, between(2, 1 << 20), "number of different tokens", of_model);
  keys("items", spec.items, between(1, 1 << 20),
       "symbols to copy (selective_copy), pairs (multi_query_recall)");
  std::string targets = spec.only_answers ? "answers" : "all";
  keys("targets", targets, one_of({"answers", "all"}),
       "train on the answers, or on every next token");
  spec.only_answers = targets == "answers";
  keys("validation_length", spec.validation_length, between(0, 1 << 26),
       "tokens of validation sequences, 0 for data.length", resumable);
  keys.when("kind", {"multi_query_recall"}, [&] {
    keys("gap_power", spec.gap_power, above(0),
         "a key is asked for in slot i after the pairs with probability proportional to "
         "i^(gap_power - 1): 1 for uniform, 0.01 as published, early slots first");
    std::string filler = spec.filled_with_all ? "all" : "values";
    keys("filler", filler, one_of({"values", "all"}),
         "tokens between the questions: values or, as published, all tokens");
    spec.filled_with_all = filler == "all";
  });
  token_tasks().describe_own(keys, spec.own);
}

/// T + 1 tokens, and which of them are answers. `answers`, if it is not empty, has T + 1 targets
/// that replace the tokens as answers.
struct Questions {
  std::vector<std::int32_t> tokens;
  std::vector<bool> is_answer;
  std::vector<std::int32_t> answers = {};
};

/// Generates the sequences of a task.
class TokenGenerator {
 public:
  virtual ~TokenGenerator() = default;
  /// Returns a sequence, a function of the draws alone; called by several threads.
  virtual Questions make(Draws draws) const = 0;
  /// Returns the smallest data.length and data.vocabulary of the task.
  virtual std::size_t smallest_length() const { return 1; }
  virtual std::size_t smallest_vocabulary() const { return 1; }
};

/// Batches of generated sequences; targets that are not asked for are `not_asked`.
class TokenTasks : public TokenSource {
 public:
  static constexpr std::int32_t not_asked = -1;

  /// Throws std::invalid_argument for an unknown kind, or if length or vocabulary are too small.
  /// batch() throws for sequences of a custom task that have another length, or tokens beyond the
  /// vocabulary.
  TokenTasks(const TokenTaskSpec& spec, const ExampleSet& examples);

  /// Returns a batch; outside training its targets are the answers only.
  Batch batch(const Examples& examples) const override;
  std::uint64_t tokens_per_example() const override { return spec_.length; }
  /// Hashes what decides training examples and the order of others: not validation_length.
  std::uint64_t fingerprint() const override;

 protected:
  /// Describes the data: "recall, 42 tokens of 20", and ", 256 to validate".
  std::string describe() const override;

 private:
  Questions questions(const Examples& examples, std::size_t row) const;

  TokenTaskSpec spec_;
  std::unique_ptr<TokenGenerator> training_, held_out_;
};

}  // namespace bochner

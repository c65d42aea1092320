#include <algorithm>
#include <bochner/data/text/state_tracking.hpp>
#include <map>
#include <numeric>

namespace bochner {
namespace {

/// Writes tokens that each change a state, and the state after each.
class StateTracking : public TokenGenerator {
 public:
  StateTracking(std::size_t length, std::size_t tokens) : length_(length), tokens_(tokens) {}
  Questions make(Draws draws) const final {
    Questions made{{}, std::vector<bool>(length_ + 1, true), {0}};
    std::size_t state = 0;
    for (std::size_t t = 0; t < length_; ++t) {
      const std::size_t token = draws.below(tokens_);
      state = after(state, token);
      made.tokens.push_back(std::int32_t(token));
      made.answers.push_back(std::int32_t(state));
    }
    made.tokens.push_back(0);
    return made;
  }
  std::size_t smallest_vocabulary() const final { return tokens_; }

 private:
  /// Returns the state after a token; both are below the number of tokens, and the first is 0.
  virtual std::size_t after(std::size_t state, std::size_t token) const = 0;

  std::size_t length_, tokens_;
};

class Parity : public StateTracking {
 public:
  explicit Parity(const TokenTaskSpec& spec) : StateTracking(spec.length, 2) {}

 private:
  std::size_t after(std::size_t state, std::size_t token) const override { return state ^ token; }
};

using Permutation = std::vector<std::size_t>;

/// Returns all permutations in lexicographic order, the identity first.
std::vector<Permutation> permutations_of(std::size_t elements) {
  Permutation next(elements);
  std::iota(next.begin(), next.end(), 0);
  std::vector<Permutation> all;
  do all.push_back(next);
  while (std::ranges::next_permutation(next).found);
  return all;
}

class Permutations : public StateTracking {
 public:
  Permutations(const TokenTaskSpec& spec, const PermutationSpec& own)
      : Permutations(spec.length, permutations_of(own.elements)) {}

 private:
  Permutations(std::size_t length, const std::vector<Permutation>& all)
      : StateTracking(length, all.size()), products_(all.size() * all.size()) {
    std::map<Permutation, std::size_t> number;
    for (std::size_t i = 0; i < all.size(); ++i) number[all[i]] = i;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < all.size(); ++j) {
        Permutation product = all[i];
        for (std::size_t& element : product) element = all[j][element];
        products_[i * all.size() + j] = number.at(product);
      }
  }
  std::size_t after(std::size_t state, std::size_t token) const override {
    return products_[state * smallest_vocabulary() + token];
  }

  std::vector<std::size_t> products_;
};

}  // namespace

void add_state_tracking(TokenGenerators& all) {
  all.add("parity", make<Parity>);
  all.add("permutation_products", make<Permutations, PermutationSpec>);
}

}  // namespace bochner

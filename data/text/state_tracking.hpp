#pragma once
/// Generated tasks whose answers depend on all tokens so far, and that finite states solve.

#include <bochner/data/text/token_tasks.hpp>

namespace bochner {

struct PermutationSpec {
  std::size_t elements = 3;
};
inline void describe(Keys& keys, PermutationSpec& spec) {
  keys("elements", spec.elements, between(2, 6),
       "number of elements; each of their permutations is a token: 6 of 3 elements, 120 of 5");
}

/// Adds parity: bits, each with the parity of those so far; and permutation_products: permutations,
/// each with the product of those so far, the last one applied last. Every token has an answer.
/// Merrill, Petty, Sabharwal, "The illusion of state in state-space models", 2024.
void add_state_tracking(TokenGenerators& all);

}  // namespace bochner

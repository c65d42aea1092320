#pragma once
/// Categorical distributions of latent variables, relaxed to have gradients, or summed exactly.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns -ln(-ln Phi(z)): the Gumbel quantiles at normal scores. (..) -> (..)
Tensor gumbel(const Tensor& scores);
/// Returns 1 at each row's largest element, 0 elsewhere. (.., K) -> (.., K)
Tensor one_hot_max(const Tensor& x);

/// N independent variables of K categories for each row: probabilities softmax(logits). (B, N, K)
struct CategoricalRows {
  Var logits = {};
  bool exist() const { return logits.exists(); }
};

/// Returns KL(q || uniform) = sum_k q_k ln q_k + ln K of each variable in nats. -> (B, N)
Var kl_divergence(const CategoricalRows& q);
/// Returns softmax((logits + g) / temperature), which tends to one-hot draws of q as the
/// temperature tends to 0; g are Gumbel quantiles of normal noise. Jang, Gu, Poole, "Categorical
/// reparameterization with Gumbel-softmax", 2017. noise (S, B, N, K) -> (S, B, N, K)
Var relaxed_points(const CategoricalRows& q, const Tensor& noise, double temperature);
/// Returns the draws of q at temperature 0. noise (S, B, N, K) -> (S, B, N, K)
Tensor points(const CategoricalRows& q, const Tensor& noise);
/// Returns one_hot_max(x), with the gradient of x. (.., K) -> (.., K)
Var straight_through(const Var& x);

/// Returns the number of values of N variables of K categories, at most `most` + 1.
std::size_t count_categories(std::size_t N, std::size_t K, std::size_t most);
/// Returns all values of N variables of K categories, one-hot; the last variable changes first. ->
/// (K^N, N K)
Tensor all_categories(std::size_t N, std::size_t K);
/// Returns ln q of the same one-hot values for each row. values (S, N K) -> (S, B)
Var log_probabilities(const CategoricalRows& q, const Tensor& values);

}  // namespace bochner::inline BOCHNER_PRECISION

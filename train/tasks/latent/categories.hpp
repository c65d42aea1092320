#pragma once
/// What reports and tables say of discrete latent variables.

#include <bochner/layers/models/variational_autoencoder.hpp>
#include <string>
#include <vector>

namespace bochner {

class Page;

/// Returns the number of the most probable category of each variable, from 1 on, then their
/// probabilities. logits (B, N, K) -> (B, 2 N)
Tensor chosen_categories(const Tensor& logits);
/// Returns how often each category of each variable is 1 in latent variables. z (B, w) -> N K
std::vector<double> category_shares(const Tensor& z, const LatentSpec& spec);
/// Writes and draws shares over so many examples.
void draw_usage(Page& page, const std::vector<double>& shares, std::size_t examples,
                const DiscreteSpec& spec);

/// Latent variables with each category of each variable, up to 64, at the mean of the normal
/// numbers and the most frequent categories of the other variables. z (rows, w)
struct EachCategory {
  Tensor z;
  std::vector<std::string> names;
};
EachCategory each_category(const std::vector<double>& shares, const LatentSpec& spec);

}  // namespace bochner

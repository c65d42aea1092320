#pragma once
/// Frequencies that are cheap to store or well spread, in place of the draws of a density.

#include <bochner/layers/module.hpp>
#include <bochner/layers/registry.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct ProjectionSpec {
  std::size_t heads = 1, m = 64, dim = 32;
  std::uint64_t seed = 1;
};

/// Rows that start as draws of N(0, I) or near it, made once a pass: a product with them costs
/// tokens x m x d, which for d up to a hundred is faster than a fast transform of every token.
class Projection : public Module {
 public:
  /// -> (H, m, d)
  virtual Var rows(Tape& tape) = 0;
};

/// "fastfood", "sorf", "radial"; a user's own are added here.
Registry<Projection, ProjectionSpec>& projections();

/// Quantile function of the chi_d distribution, the length of a draw of N(0, I_d), at 0 < t < 1.
double chi_quantile(double t, std::size_t d);

}  // namespace bochner::inline BOCHNER_PRECISION

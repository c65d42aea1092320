#pragma once
/// Structured frequencies, cheap to store or well spread, instead of draws of a density.

#include <bochner/layers/module.hpp>
#include <bochner/layers/registry.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct ProjectionSpec {
  std::size_t heads = 1, m = 64, dim = 32;
  std::uint64_t seed = 1;
};

/// Rows that start as draws of N(0, I) or near it, computed once per pass: for d up to a hundred, a
/// product (tokens x m x d) is faster than a fast transform per token.
class Projection : public Module {
 public:
  /// Returns the rows. -> (H, m, d)
  virtual Var rows(Tape& tape) = 0;
};

/// Registry of "fastfood", "sorf", "radial"; add custom projections here.
Registry<Projection, ProjectionSpec>& projections();

/// Returns the quantile function at 0 < t < 1 of chi_d, the length of a draw of N(0, I_d).
double chi_quantile(double t, std::size_t d);

}  // namespace bochner::inline BOCHNER_PRECISION

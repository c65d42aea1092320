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

/// Rows S H G P H B / sqrt(p) in blocks of p >= d, p a power of two: H Hadamard, P a permutation,
/// B signs, G normal, S row lengths (chi_p over |G|); B, G and S are learned, 3p numbers for p
/// rows. Le et al., "Fastfood", 2013.
class FastfoodProjection : public Projection {
 public:
  explicit FastfoodProjection(const ProjectionSpec& spec);
  Var rows(Tape& tape) override;
  void visit(Visitor& visitor) override;

 private:
  std::size_t m_;
  Tensor mixed_;                  // (H, blocks, d, p): columns of P H
  Parameter signs_;               // (H, blocks, d, 1)
  Parameter gaussian_, lengths_;  // (H, blocks, 1, p)
};

/// Rows S H D1 H D2 H D3 in blocks of p >= d: D learned diagonals that start as signs, S learned
/// lengths that start as chi_p. With all lengths sqrt(p), as published, the kernel would not be the
/// Gaussian one. Yu et al., "Orthogonal random features", 2016.
class SorfProjection : public Projection {
 public:
  explicit SorfProjection(const ProjectionSpec& spec);
  Var rows(Tape& tape) override;
  void visit(Visitor& visitor) override;

 private:
  std::size_t m_;
  Tensor unit_;               // (d, p)
  Parameter first_, second_;  // (H, blocks, 1, p)
  Parameter third_;           // (H, blocks, d, 1)
  Parameter lengths_;         // (H, blocks, 1, p)
};

/// Uniform directions, orthogonal in blocks, times r(t), r the quantile function of chi_d: the
/// radius of N(0, I). t is stratified, one draw for each m-th part of (0, 1), in random order, so
/// each row is exactly normal. "PFF" in Chen et al., "DiJiang", 2024.
class RadialProjection : public Projection {
 public:
  explicit RadialProjection(const ProjectionSpec& spec);
  Var rows(Tape& tape) override { return tape.view(rows_); }
  void visit(Visitor& visitor) override { visitor("rows", rows_); }

 private:
  Tensor rows_;
};

/// "fastfood", "sorf", "radial"; a user's own are added here.
Registry<Projection, ProjectionSpec>& projections();

/// Quantile function of the chi_d distribution, the length of a draw of N(0, I_d), at 0 < t < 1.
double chi_quantile(double t, std::size_t d);

}  // namespace bochner::inline BOCHNER_PRECISION

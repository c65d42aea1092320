#pragma once
#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Keys and values of past tokens at ascending times, for exact attention token by token.
class KvCache {
 public:
  /// Appends a token of k, v (B, 1, H, d).
  void append(const Var& k, const Var& v, double time);
  /// Drops the oldest token and returns its values (B H, d).
  Tensor pop_front();
  std::size_t size() const { return times_.size(); }
  /// Attends from queries (B, 1, H, d) at the last token's time; `rates` (B H) or (). Returns means
  /// of values, then the logarithm of the sum of weights exp(q . k / sqrt(d) - rate lag). -> (B H,
  /// d + 1)
  Tensor attend(const Var& q, const Tensor& rates) const;

 private:
  std::vector<real> keys_, values_;  // (size, B H, d)
  std::vector<double> times_;
  std::size_t H_ = 0, d_ = 0;
};

/// Returns the means without the logarithms. (B H, d + 1) -> (B, 1, H, d)
Var means_of(Tape& tape, Tensor& means, Shape shape);

}  // namespace bochner::inline BOCHNER_PRECISION

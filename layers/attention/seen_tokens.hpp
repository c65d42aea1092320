#pragma once
#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Keys and values of tokens at ascending times: what exact attention looks back to, token by
/// token.
class SeenTokens {
 public:
  /// k, v (1, 1, H, d)
  void append(const Var& k, const Var& v, double time);
  /// Returns the value (H, d) of the oldest token, which is dropped.
  Tensor forget_first();
  std::size_t size() const { return times_.size(); }
  /// By a query (1, 1, H, d) at the time of the last token: mean of the values, and behind it the
  /// logarithm of the sum of weights exp(q . k / sqrt(d) - rate lag). `rate` (H), or left out.
  /// -> (H, d + 1)
  Tensor attend(const Var& q, const Var& rate) const;

 private:
  std::vector<real> keys_, values_;  // (size, H, d)
  std::vector<double> times_;
  std::size_t H_ = 0, d_ = 0;
};

}  // namespace bochner::inline BOCHNER_PRECISION

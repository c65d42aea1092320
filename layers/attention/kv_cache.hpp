#pragma once
#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Keys and values of tokens at ascending times: what exact attention looks back to, token by
/// token.
class KvCache {
 public:
  /// k, v (B, 1, H, d), whose B H heads are those of below.
  void append(const Var& k, const Var& v, double time);
  /// Returns the values (B H, d) of the oldest token, which is dropped.
  Tensor forget_first();
  std::size_t size() const { return times_.size(); }
  /// By queries (B, 1, H, d) at the time of the last token: means of the values, and behind each
  /// the logarithm of the sum of weights exp(q . k / sqrt(d) - rate lag). `rates` (B H) or ().
  /// -> (B H, d + 1)
  Tensor attend(const Var& q, const Tensor& rates) const;

 private:
  std::vector<real> keys_, values_;  // (size, B H, d)
  std::vector<double> times_;
  std::size_t H_ = 0, d_ = 0;
};

/// The means alone, of values of this shape. (B H, d + 1) -> (B, 1, H, d)
Var means_of(Tape& tape, Tensor& attended, Shape shape);

}  // namespace bochner::inline BOCHNER_PRECISION

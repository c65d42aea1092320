#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/basic/pooling.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Rows (B, 1, T) whose products with sequences are the means of their first tokens.
Tensor mean_weights(const std::vector<std::size_t>& lengths, std::size_t T) {
  Tensor weights = zeros({lengths.size(), 1, T});
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    require(lengths[b] > 0 && lengths[b] <= T, "pool", "a length must be between 1 and T = ", T,
            ", not ", lengths[b]);
    std::fill_n(weights.data() + b * T, lengths[b], 1 / real(lengths[b]));
  }
  return weights;
}

}  // namespace

Var pool(const std::string& kind, const Var& x, const std::vector<std::size_t>& lengths) {
  require(x.rank() == 3, "pool", "sequences must be (B, T, D), not ", x.shape());
  const std::size_t B = x.dim(0), T = x.dim(1), D = x.dim(2);
  if (kind == "cls") return reshape(slice(x, 1, 0, 1), {B, D});
  require(kind == "mean", "pool", "no pooling is called \"", kind, "\"; there are: mean, cls");
  if (lengths.empty()) return mean(x, {1});
  require(lengths.size() == B, "pool", lengths.size(), " lengths for ", B, " sequences");
  return reshape(matmul(Var(mean_weights(lengths, T)), x), {B, D});
}

}  // namespace bochner::inline BOCHNER_PRECISION

#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/models/row_effects.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

RowEffects::RowEffects(std::size_t covariates, std::size_t hidden, std::size_t variates)
    : up_(hidden > 0 ? std::make_unique<Linear>(covariates, hidden) : nullptr),
      down_({hidden > 0 ? hidden : covariates, variates}) {}

Var RowEffects::forward(Tape& tape, const Var& covariates) {
  const Var inner = up_ ? up_->forward_gelu(tape, covariates) : covariates;
  return transpose(matmul(inner, tape(down_)), {0, 2, 1});
}

Var ascending(const Var& x, std::size_t middle) {
  const std::size_t Q = x.dim(-1);
  require(middle < Q, "ascending", "index ", middle, " is out of range for ", Q);
  std::vector<Var> columns;
  for (std::size_t q = 0; q < Q; ++q) columns.push_back(slice(x, -1, q, q + 1));
  for (std::size_t q = middle + 1; q < Q; ++q) columns[q] = columns[q - 1] + softplus(columns[q]);
  for (std::size_t q = middle; q-- > 0;) columns[q] = columns[q + 1] - softplus(columns[q]);
  return concat(columns, -1);
}

std::size_t median_index(const std::vector<double>& levels) {
  const auto distance = [](double level) { return std::abs(level - 0.5); };
  return std::size_t(std::ranges::min_element(levels, {}, distance) - levels.begin());
}

}  // namespace bochner::inline BOCHNER_PRECISION

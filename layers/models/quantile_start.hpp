#pragma once
/// Initial distances between forecast quantiles.

#include <bochner/autodiff/tensor.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the residuals that a linear map of at most the last 336 numbers of each window leaves on
/// the last third of the windows, fitted to the others by ridge regression with the penalty that
/// leaves the least; the futures themselves if there are fewer than six windows.
/// past (n, L), future (n, H) -> (H) columns
std::vector<std::vector<double>> ridge_residuals(const Tensor& past, const Tensor& future);

/// Returns outputs that ascending() turns into the quantiles of each column less the middle one,
/// which is 0. (H) columns -> (H, Q)
Tensor spreads_of(const std::vector<std::vector<double>>& residuals,
                  const std::vector<double>& levels, std::size_t middle);

}  // namespace bochner::inline BOCHNER_PRECISION

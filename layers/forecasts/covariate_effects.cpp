#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/layers/forecasts/ensemble.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Seasonal differences of rows and of their covariates.
struct SeasonalDifferences {
  std::size_t n, C;
  std::vector<double> inputs, outputs;  ///< (n, C), (n)

  SeasonalDifferences(Rows rows, Rows covariates, std::size_t season)
      : n(rows.size() - season), C(covariates.size() / rows.size()) {
    for (std::size_t i = season; i < rows.size(); ++i) {
      outputs.push_back(rows[i] - rows[i - season]);
      for (std::size_t c = 0; c < C; ++c) {
        const double* values = covariates.data() + c * rows.size();
        inputs.push_back(values[i] - values[i - season]);
      }
    }
  }

  /// Returns the least squares of the first differences. (C)
  std::vector<double> effects(std::size_t count) const {
    constexpr double ridge = 1e-6;
    std::vector<double> gram(C * C), effects(C);
    accumulate_gram(count, C, inputs.data(), gram.data());
    multiply(C, 1, count, inputs.data(), true, outputs.data(), 0, effects.data());
    double sum = 0;
    for (std::size_t c = 0; c < C; ++c) sum += gram[c * C + c];
    for (std::size_t c = 0; c < C; ++c) gram[c * C + c] += ridge * sum + 1e-300;
    cholesky(C, gram.data());
    solve_lower(C, gram.data(), 1, effects.data());
    solve_lower_transposed(C, gram.data(), 1, effects.data());
    return effects;
  }

  /// Returns the squares that remain of the differences from `first` on.
  double rest(const std::vector<double>& effects, std::size_t first) const {
    double squares = 0;
    for (std::size_t i = first; i < n; ++i) {
      double error = outputs[i];
      for (std::size_t c = 0; c < C; ++c) error -= effects[c] * inputs[i * C + c];
      squares += error * error;
    }
    return squares;
  }
};

}  // namespace

std::vector<double> covariate_effects(Rows rows, Rows covariates, std::size_t season) {
  constexpr std::size_t fewest_rows_each = 5;
  const std::size_t C = covariates.size() / rows.size();
  std::vector<double> none(C);
  if (rows.size() < season + fewest_rows_each * (C + 1)) return none;
  const SeasonalDifferences differences(rows, covariates, season);
  const std::size_t seen = 7 * differences.n / 10;
  const bool help =
      differences.rest(differences.effects(seen), seen) < differences.rest(none, seen);
  return help ? differences.effects(differences.n) : none;
}

}  // namespace bochner::inline BOCHNER_PRECISION

#pragma once
/// Ways to predict a column of a table from others that are fitted at once: they compete in a
/// TableEnsemble. In double.

#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Numbers by column. (columns, n)
using Columns = std::vector<std::vector<double>>;

/// Returns the chosen rows of columns.
Columns rows_of(const Columns& columns, const std::vector<std::size_t>& rows);

/// Rows of standardized inputs (d, n) and their answers: a standardized number (1, n), or for each
/// of K classes 1 in the rows of the class, else 0 (K, n).
struct AnsweredRows {
  Columns inputs, answers;

  std::size_t size() const { return answers[0].size(); }
};

/// Sizes that members share.
struct EstimatorSpec {
  std::size_t inputs = 1;   ///< d
  std::size_t classes = 0;  ///< K, or 0 for a number
  std::uint64_t seed = 1;

  std::size_t answers() const { return classes > 0 ? classes : 1; }
};

/// Answers to rows: means of the number, or probabilities of the classes. (answers, rows)
struct RowEstimates {
  Columns values;
  std::vector<double> deviations = {};  ///< of new numbers (rows), or empty where all are alike
};

/// A way to predict. What fit() learns is a list of numbers whose length depends on the spec only.
class Estimator {
 public:
  virtual ~Estimator() = default;
  /// Returns how many numbers fit() sets.
  virtual std::size_t size() const = 0;
  /// Sets the state (size); returns false if the rows are unsuitable.
  virtual bool fit(const AnsweredRows& rows, std::span<double> state) const = 0;
  /// Fits a state of other rows to these; what is costly to choose stays, such as penalties.
  virtual bool refit(const AnsweredRows& rows, std::span<double> state) const {
    return fit(rows, state);
  }
  /// Answers rows of inputs (d, rows). `seen`: the rows of the last fit.
  virtual RowEstimates estimate(const AnsweredRows& seen, std::span<const double> state,
                                const Columns& inputs) const = 0;
};
using EstimatorPtr = std::unique_ptr<Estimator>;

/// The mean of the answers, or the shares of the classes.
EstimatorPtr make_mean(const EstimatorSpec& spec);

/// Ridge regression of the number on the inputs: a RidgePath with the penalty of the least
/// leave-one-out error.
EstimatorPtr make_table_ridge(const EstimatorSpec& spec);

/// A GaussianProcess of at most 256 inputs with a density of each, combined by "product" or "sum",
/// and a linear trend, started by a search. Exact, of at most 4,000 of the rows; or (`combine` =
/// "features") of all rows, if they are more, by random Fourier features of a product.
EstimatorPtr make_table_process(const EstimatorSpec& spec, const std::string& density,
                                const std::string& combine);

/// Returns the log scales of the frequencies of each input that Gaussian processes of the classes
/// (1 or 0) learn: the mean square of the scales over classes.
std::vector<double> class_log_scales(const AnsweredRows& rows, std::uint64_t seed);

/// Multinomial logistic regression with a ridge penalty, chosen by the log loss of inner folds
/// (Hastie, Tibshirani, Friedman, 2009, section 4.4), on the inputs or, with a `density`, also on
/// random Fourier features of its product over inputs. Its scale is that of the least leave-one-out
/// error of a RidgePath: the same for all inputs, or (`learned`) relative to class_log_scales(), if
/// inputs times classes are at most 128.
EstimatorPtr make_logistic(const EstimatorSpec& spec, const std::string& density = "",
                           bool learned = false);

}  // namespace bochner::inline BOCHNER_PRECISION

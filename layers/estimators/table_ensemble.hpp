#pragma once
/// An ensemble of estimators of one column of a table, each fitted at once, that compete on rows
/// that they have not seen.

#include <array>
#include <bochner/base/keys.hpp>
#include <bochner/layers/estimators/estimator.hpp>
#include <bochner/layers/module.hpp>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

/// Names for model.estimators: of numbers, then of classes.
std::vector<std::string> estimator_names();
/// Returns those that compete by default; others take longer.
std::vector<std::string> usual_estimators();

struct TableEnsembleSpec {
  std::size_t inputs = 1, classes = 0, rows = 10;  ///< classes: 0 for a number
  std::vector<std::size_t> groups = {};  ///< (inputs) the column of the table of each input
  std::uint64_t seed = 1;
  std::vector<std::string> estimators = usual_estimators();
};
inline void describe(Keys& keys, TableEnsembleSpec& spec) {
  keys("estimators", spec.estimators, one_of(estimator_names),
       "what competes beside the mean or the shares of the classes; for numbers: ridge regression "
       "(ridge), Gaussian processes with this spectral density of each input, multiplied over "
       "inputs (gaussian, cauchy, laplace, student_t, mixture), or with a Gaussian of each input, "
       "added (additive), or a linear model of random Fourier features of a product of Gaussians, "
       "of "
       "more than 4,000 rows (features); for classes: logistic regression on the inputs "
       "(logistic), and on random "
       "Fourier features as well (gaussian_features, cauchy_features), with a scale of each input "
       "that Gaussian processes of the classes learn (learned_features)");
}

struct NamedEstimator {
  std::string name, title;  ///< of model.estimators, and for people
  EstimatorPtr estimator;
};
/// Returns the members of a spec, the mean first.
std::vector<NamedEstimator> table_estimators(const TableEnsembleSpec& spec);

/// The rows of a competition that are answered by members that have not seen them: all in five
/// folds, or of more than 3,000 rows a fifth, at most 2,000. Classes are spread over the folds.
struct HeldRows {
  std::vector<std::vector<std::size_t>> folds = {};
  std::size_t size() const;
};
HeldRows held_rows(const AnsweredRows& rows, std::uint64_t seed);
/// Returns how many rows are held of so many.
std::size_t count_held_rows(std::size_t rows);

/// The result of the competition. Losses of numbers are root mean squared errors in their
/// deviation, of classes nats; errors are mean absolute errors, or shares of wrong classes.
struct TableContest {
  std::vector<double> losses, errors;  ///< (M) of held rows; -1 if a member was not fitted
  std::vector<double> weights;         ///< (M) of the combination; their sum is 1
  double loss = 0, error = 0;          ///< of the combination
  std::vector<std::size_t> rows;       ///< (held) numbers of the held rows
  RowEstimates held;                   ///< the combination's estimates of held rows
  std::array<double, 2> bands;     ///< of numbers, in deviations: 80 and 95 % of errors are within
  std::vector<double> importance;  ///< (columns) loss if a column is shuffled, less loss
  std::vector<std::vector<double>> states = {};  ///< (M) fitted to all rows, if there is a weight
};
/// Fits the members to all rows and to the rows without each fold, and combines them with the
/// weights of least loss on held rows (Wolpert, "Stacked generalization", 1992). Bands are
/// conformal: quantiles of absolute errors in deviations (Vovk, Gammerman, Shafer, 2005).
/// Importances are of permuted columns (Breiman, "Random forests", 2001).
TableContest compete(const std::vector<NamedEstimator>& members, const AnsweredRows& rows,
                     const std::vector<std::size_t>& groups, std::uint64_t seed);

/// Returns absolute errors of held rows of a number in deviations.
std::vector<double> scaled_errors(const RowEstimates& held, const std::vector<double>& truth);

/// Returns the weights, not negative and of sum 1, of the least squared error of a number or log
/// loss of classes. estimates (M), each (answers, n)
std::vector<double> stacking_weights(const std::vector<Columns>& estimates, const Columns& answers);

/// Returns the sum of the members' estimates by weight. A member whose deviations are all alike has
/// its loss as deviation.
RowEstimates combine(const std::vector<double>& weights, const std::vector<double>& losses,
                     const std::function<RowEstimates(std::size_t member)>& estimates_of);

/// Members, their weights and their errors, as buffers.
class TableEnsemble : public Module {
 public:
  explicit TableEnsemble(const TableEnsembleSpec& spec);
  const std::vector<NamedEstimator>& members() const { return members_; }
  /// Lets the members compete.
  void fit(const AnsweredRows& rows);
  /// Answers rows of inputs. `seen`: the rows of fit(). Deviations are half the widths of bands of
  /// 80 %; see band_ratio().
  RowEstimates estimate(const AnsweredRows& seen, const Columns& inputs) const;
  /// Returns the width of the band of 95 % in that of 80 %.
  double band_ratio() const { return double(scores_(1)) / double(scores_(0)); }
  /// Returns what fit() found, without states.
  TableContest contest() const;
  void visit(Visitor& visitor) override;

 private:
  TableEnsembleSpec spec_;
  std::vector<NamedEstimator> members_;
  std::vector<Tensor> states_;                     // (size) for each member
  Tensor losses_, errors_, weights_, importance_;  // (M), (columns)
  Tensor scores_;                                  // bands, loss, error
  Tensor held_, deviations_, held_rows_;           // (held, answers), (held), (held)
};

}  // namespace bochner::inline BOCHNER_PRECISION

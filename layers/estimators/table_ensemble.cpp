#include <algorithm>
#include <bochner/layers/estimators/table_ensemble.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// A member by its name in model.estimators.
struct EstimatorKind {
  const char* name;
  bool is_usual, of_classes;
  const char* title;
  EstimatorPtr (*make)(const EstimatorSpec& spec);
};

template <const char* density>
EstimatorPtr make_product(const EstimatorSpec& spec) {
  return make_table_process(spec, density, "product");
}
template <const char* density>
EstimatorPtr make_features(const EstimatorSpec& spec) {
  return make_logistic(spec, density);
}
constexpr char gaussian[] = "gaussian", cauchy[] = "cauchy", laplace[] = "laplace",
               student_t[] = "student_t", mixture[] = "mixture";

constexpr EstimatorKind kinds[] = {
    {"ridge", true, false, "ridge regression", make_table_ridge},
    {gaussian, true, false, "Gaussian process, gaussian", make_product<gaussian>},
    {cauchy, true, false, "Gaussian process, cauchy", make_product<cauchy>},
    {"additive", true, false, "Gaussian process, additive",
     [](const EstimatorSpec& spec) { return make_table_process(spec, gaussian, "sum"); }},
    {"features", true, false, "ridge, random features",
     [](const EstimatorSpec& spec) { return make_table_process(spec, gaussian, "features"); }},
    {laplace, false, false, "Gaussian process, laplace", make_product<laplace>},
    {student_t, false, false, "Gaussian process, student_t", make_product<student_t>},
    {mixture, false, false, "Gaussian process, mixture", make_product<mixture>},
    {"logistic", true, true, "logistic regression",
     [](const EstimatorSpec& spec) { return make_logistic(spec); }},
    {"gaussian_features", true, true, "logistic, gaussian features", make_features<gaussian>},
    {"cauchy_features", true, true, "logistic, cauchy features", make_features<cauchy>},
    {"learned_features", true, true, "logistic, learned features",
     [](const EstimatorSpec& spec) { return make_logistic(spec, gaussian, true); }}};

void assign(const std::vector<double>& numbers, Tensor& tensor) {
  std::ranges::transform(numbers, tensor.data(), [](double x) { return real(x); });
}

std::vector<double> numbers_of(const Tensor& tensor) { return {tensor.begin(), tensor.end()}; }

}  // namespace

std::vector<std::string> estimator_names() {
  std::vector<std::string> names;
  for (const EstimatorKind& kind : kinds) names.push_back(kind.name);
  return names;
}

std::vector<std::string> usual_estimators() {
  std::vector<std::string> names;
  for (const EstimatorKind& kind : kinds)
    if (kind.is_usual) names.push_back(kind.name);
  return names;
}

std::vector<NamedEstimator> table_estimators(const TableEnsembleSpec& spec) {
  const EstimatorSpec sizes{spec.inputs, spec.classes, spec.seed};
  std::vector<NamedEstimator> members;
  members.push_back(
      {"mean", spec.classes > 0 ? "shares of the classes" : "mean", make_mean(sizes)});
  for (const EstimatorKind& kind : kinds)
    if (kind.of_classes == (spec.classes > 0) && std::ranges::count(spec.estimators, kind.name) > 0)
      members.push_back({kind.name, kind.title, kind.make(sizes)});
  return members;
}

TableEnsemble::TableEnsemble(const TableEnsembleSpec& spec)
    : spec_(spec), members_(table_estimators(spec)) {
  const std::size_t M = members_.size(), held = count_held_rows(spec.rows),
                    K = std::max<std::size_t>(1, spec.classes),
                    columns = spec.groups.empty() ? 1 : spec.groups.back() + 1;
  for (const NamedEstimator& member : members_)
    states_.push_back(zeros({member.estimator->size()}));
  losses_ = errors_ = weights_ = zeros({M});
  weights_(0) = 1;
  importance_ = zeros({columns});
  scores_ = filled({4}, real(1));
  held_ = zeros({held, K});
  deviations_ = held_rows_ = zeros({held});
}

void TableEnsemble::fit(const AnsweredRows& rows) {
  const TableContest contest = compete(members_, rows, spec_.groups, spec_.seed);
  for (std::size_t m = 0; m < members_.size(); ++m) assign(contest.states[m], states_[m]);
  assign(contest.losses, losses_);
  assign(contest.errors, errors_);
  assign(contest.weights, weights_);
  assign(contest.importance, importance_);
  assign({contest.bands[0], contest.bands[1], contest.loss, contest.error}, scores_);
  const std::size_t K = contest.held.values.size();
  for (std::size_t i = 0; i < contest.rows.size(); ++i) {
    for (std::size_t k = 0; k < K; ++k) held_(i, k) = real(contest.held.values[k][i]);
    deviations_(i) = real(contest.held.deviations[i]);
    held_rows_(i) = real(contest.rows[i]);
  }
}

RowEstimates TableEnsemble::estimate(const AnsweredRows& seen, const Columns& inputs) const {
  RowEstimates sum = combine(numbers_of(weights_), numbers_of(losses_), [&](std::size_t m) {
    return members_[m].estimator->estimate(seen, numbers_of(states_[m]), inputs);
  });
  for (double& deviation : sum.deviations) deviation *= double(scores_(0));
  return sum;
}

TableContest TableEnsemble::contest() const {
  TableContest contest{.losses = numbers_of(losses_),
                       .errors = numbers_of(errors_),
                       .weights = numbers_of(weights_),
                       .loss = double(scores_(2)),
                       .error = double(scores_(3)),
                       .rows = {},
                       .held = {Columns(held_.shape()[1]), numbers_of(deviations_)},
                       .bands = {double(scores_(0)), double(scores_(1))},
                       .importance = numbers_of(importance_)};
  for (std::size_t i = 0; i < held_.shape()[0]; ++i) {
    for (std::size_t k = 0; k < contest.held.values.size(); ++k)
      contest.held.values[k].push_back(double(held_(i, k)));
    contest.rows.push_back(std::size_t(held_rows_(i)));
  }
  return contest;
}

void TableEnsemble::visit(Visitor& visitor) {
  for (std::size_t m = 0; m < members_.size(); ++m)
    visitor("members." + members_[m].name, states_[m]);
  visitor("losses", losses_);
  visitor("errors", errors_);
  visitor("weights", weights_);
  visitor("importance", importance_);
  visitor("scores", scores_);
  visitor("held", held_);
  visitor("deviations", deviations_);
  visitor("held_rows", held_rows_);
}

}  // namespace bochner::inline BOCHNER_PRECISION

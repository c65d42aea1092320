#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/conformal.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/estimators/table_ensemble.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t fold_count = 5, most_rows_in_folds = 3000, most_held = 2000,
                      permuted_rows = 100, fewest_rows = 10;

/// Returns in how many parts so many rows are cut, and how many of them are held in turn.
std::pair<std::size_t, std::size_t> parts_of(std::size_t rows) {
  if (rows <= most_rows_in_folds) return {fold_count, fold_count};
  return {std::max(fold_count, rows / most_held), 1};
}

AnsweredRows chosen_rows(const AnsweredRows& rows, const std::vector<std::size_t>& chosen) {
  return {rows_of(rows.inputs, chosen), rows_of(rows.answers, chosen)};
}

/// Returns the numbers of the rows that are not in a fold, in order.
std::vector<std::size_t> others(std::size_t n, const std::vector<std::size_t>& fold) {
  std::vector<bool> is_held(n);
  for (const std::size_t row : fold) is_held[row] = true;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < n; ++i)
    if (!is_held[i]) rows.push_back(i);
  return rows;
}

std::size_t likeliest(const Columns& values, std::size_t row) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < values.size(); ++k)
    if (values[k][row] > values[best][row]) best = k;
  return best;
}

/// Loss and error over rows.
struct Score {
  double loss, error;
};

Score score_of(const Columns& estimates, const Columns& answers) {
  constexpr double least = 1e-15;
  const std::size_t n = answers[0].size();
  Score sums{0, 0};
  for (std::size_t i = 0; i < n; ++i) {
    if (answers.size() == 1) {
      const double off = estimates[0][i] - answers[0][i];
      sums.loss += off * off, sums.error += std::abs(off);
    } else {
      const std::size_t k = likeliest(answers, i);
      sums.loss -= std::log(std::max(estimates[k][i], least));
      sums.error += likeliest(estimates, i) != k;
    }
  }
  const double loss = sums.loss / double(n);
  return {answers.size() == 1 ? std::sqrt(loss) : loss, sums.error / double(n)};
}

void append(Columns& all, const Columns& more) {
  all.resize(more.size());
  for (std::size_t k = 0; k < more.size(); ++k)
    all[k].insert(all[k].end(), more[k].begin(), more[k].end());
}

/// One member's answers to the held rows, one fold after the other, and its states by fold.
struct Entry {
  bool is_fitted = true;
  std::vector<double> state = {};  ///< fitted to all rows
  std::vector<std::vector<double>> states = {};
  RowEstimates held = {};
};

Entry entry_of(const Estimator& member, const AnsweredRows& rows, const HeldRows& held) {
  Entry entry{.state = std::vector<double>(member.size())};
  entry.is_fitted = member.fit(rows, entry.state);
  for (const auto& fold : held.folds) {
    if (!entry.is_fitted) break;
    const AnsweredRows seen = chosen_rows(rows, others(rows.size(), fold));
    entry.states.push_back(entry.state);
    entry.is_fitted = member.refit(seen, entry.states.back());
    if (!entry.is_fitted) break;
    const RowEstimates now = member.estimate(seen, entry.states.back(), rows_of(rows.inputs, fold));
    append(entry.held.values, now.values);
    entry.held.deviations.insert(entry.held.deviations.end(), now.deviations.begin(),
                                 now.deviations.end());
  }
  for (const auto& column : entry.held.values)
    for (const double x : column) entry.is_fitted &= std::isfinite(x);
  return entry;
}

/// Returns the conformal quantile of the scores, at most the largest one.
double band_of(const std::vector<double>& scores, double level) {
  return std::min(conformal_quantile(scores, level), *std::ranges::max_element(scores));
}

/// Returns inputs in which the columns of each group in turn are permuted. (d, groups * n)
Columns permuted_inputs(const Columns& inputs, const std::vector<std::size_t>& groups,
                        std::size_t count, std::uint64_t seed) {
  const auto order =
      Draws({seed, Purpose::data_order, stream_of("importance")}).shuffled(inputs[0].size());
  Columns permuted(inputs.size());
  for (std::size_t group = 0; group < count; ++group)
    for (std::size_t j = 0; j < inputs.size(); ++j)
      for (std::size_t i = 0; i < order.size(); ++i)
        permuted[j].push_back(inputs[j][groups[j] == group ? order[i] : i]);
  return permuted;
}

/// The members of a competition with their answers to the held rows.
struct Entries {
  const std::vector<NamedEstimator>& members;
  const AnsweredRows& rows;
  HeldRows held;
  std::vector<Entry> entries;

  Entries(const std::vector<NamedEstimator>& of, const AnsweredRows& to, std::uint64_t seed)
      : members(of), rows(to), held(held_rows(to, seed)), entries(of.size()) {
    parallel_tasks(members.size(), [&](std::size_t m) {
      entries[m] = entry_of(*members[m].estimator, rows, held);
    });
  }

  /// Returns the combination's answers to some inputs, by members that have not seen a fold.
  RowEstimates estimate(const TableContest& contest, std::size_t fold,
                        const Columns& inputs) const {
    const AnsweredRows seen = chosen_rows(rows, others(rows.size(), held.folds[fold]));
    return combine(contest.weights, contest.losses, [&](std::size_t m) {
      return members[m].estimator->estimate(seen, entries[m].states[fold], inputs);
    });
  }
};

/// Returns a part of the rows of columns.
Columns part_of(const Columns& columns, std::size_t first, std::size_t count) {
  Columns part;
  for (const auto& column : columns)
    part.emplace_back(column.begin() + std::ptrdiff_t(first),
                      column.begin() + std::ptrdiff_t(first + count));
  return part;
}

/// Returns the loss of the combination with each column permuted, less the loss without, in up to
/// a hundred rows of each fold.
std::vector<double> importance_of(const Entries& all, const TableContest& contest,
                                  const std::vector<std::size_t>& groups, std::uint64_t seed) {
  const std::size_t count = *std::ranges::max_element(groups) + 1;
  Columns answers;
  std::vector<Columns> estimates(count + 1);  // as they are, then with each group permuted
  for (std::size_t f = 0; f < all.held.folds.size(); ++f) {
    std::vector<std::size_t> some = all.held.folds[f];
    some.resize(std::min(some.size(), permuted_rows));
    Columns inputs = rows_of(all.rows.inputs, some);
    append(inputs, permuted_inputs(inputs, groups, count, seed));
    append(answers, rows_of(all.rows.answers, some));
    const RowEstimates values = all.estimate(contest, f, inputs);
    for (std::size_t g = 0; g <= count; ++g)
      append(estimates[g], part_of(values.values, g * some.size(), some.size()));
  }
  std::vector<double> importance;
  const double loss = score_of(estimates[0], answers).loss;
  for (std::size_t g = 1; g <= count; ++g)
    importance.push_back(score_of(estimates[g], answers).loss - loss);
  return importance;
}

/// Sets losses, errors and weights of the members.
void compare(const std::vector<Entry>& entries, const Columns& answers, TableContest& contest) {
  std::vector<Columns> fitted;
  std::vector<std::size_t> numbers;
  for (std::size_t m = 0; m < entries.size(); ++m) {
    const bool is_fitted = entries[m].is_fitted;
    const Score score = is_fitted ? score_of(entries[m].held.values, answers) : Score{-1, -1};
    contest.losses.push_back(score.loss);
    contest.errors.push_back(score.error);
    if (!is_fitted) continue;
    fitted.push_back(entries[m].held.values);
    numbers.push_back(m);
  }
  contest.weights.assign(entries.size(), 0);
  const std::vector<double> weights = stacking_weights(fitted, answers);
  for (std::size_t i = 0; i < numbers.size(); ++i) contest.weights[numbers[i]] = weights[i];
}

}  // namespace

std::vector<double> scaled_errors(const RowEstimates& held, const std::vector<double>& truth) {
  std::vector<double> scaled;
  for (std::size_t i = 0; i < truth.size(); ++i)
    scaled.push_back(std::abs(truth[i] - held.values[0][i]) / held.deviations[i]);
  return scaled;
}

std::size_t HeldRows::size() const {
  std::size_t size = 0;
  for (const auto& fold : folds) size += fold.size();
  return size;
}

std::size_t count_held_rows(std::size_t rows) {
  const auto [parts, used] = parts_of(rows);
  return used == parts ? rows : (rows - 1) / parts + 1;
}

HeldRows held_rows(const AnsweredRows& rows, std::uint64_t seed) {
  const std::size_t n = rows.size();
  const auto [parts, used] = parts_of(n);
  std::vector<std::size_t> order =
      Draws({seed, Purpose::data_order, stream_of("folds")}).shuffled(n);
  if (rows.answers.size() > 1)
    std::ranges::stable_sort(order, {},
                             [&](std::size_t row) { return likeliest(rows.answers, row); });
  HeldRows held{std::vector<std::vector<std::size_t>>(used)};
  for (std::size_t i = 0; i < n; ++i)
    if (i % parts < used) held.folds[i % parts].push_back(order[i]);
  return held;
}

TableContest compete(const std::vector<NamedEstimator>& members, const AnsweredRows& rows,
                     const std::vector<std::size_t>& groups, std::uint64_t seed) {
  require(rows.size() >= fewest_rows, "ensemble", "needs at least ", fewest_rows,
          " rows with a known target, not ", rows.size());
  Entries all(members, rows, seed);
  TableContest contest{};
  for (const auto& fold : all.held.folds)
    contest.rows.insert(contest.rows.end(), fold.begin(), fold.end());
  const Columns answers = rows_of(rows.answers, contest.rows);
  compare(all.entries, answers, contest);
  contest.held =
      combine(contest.weights, contest.losses, [&](std::size_t m) { return all.entries[m].held; });
  const Score score = score_of(contest.held.values, answers);
  contest.loss = score.loss, contest.error = score.error;
  if (answers.size() == 1) {
    const std::vector<double> scores = scaled_errors(contest.held, answers[0]);
    contest.bands = {band_of(scores, 0.8), band_of(scores, 0.95)};
  }
  contest.importance = importance_of(all, contest, groups, seed);
  for (Entry& entry : all.entries) contest.states.push_back(std::move(entry.state));
  return contest;
}

}  // namespace bochner::inline BOCHNER_PRECISION

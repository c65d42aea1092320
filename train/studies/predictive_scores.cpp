#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/predictive_scores.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::uint64_t noise_batches = 64;
/// Number of standard deviations around the mean that contain 90 % of a normal distribution.
constexpr double central_deviations = 1.6448536269514722;

using Array = xt::xarray<double>;

const Array& array_called(const NamedArrays& arrays, const std::string& name) {
  const auto found = std::ranges::find(arrays, name, [](const auto& each) { return each.first; });
  require(found != arrays.end(), "calibration",
          "needs a model that predicts tokens, labels or values; this kind has no \"", name, "\"");
  return found->second;
}

/// Targets of a batch, and the mean and variance of its predictions over draws.
struct Averaged {
  Array targets, mean, variance;
  bool of_answers = false;     ///< means are probabilities
  std::optional<Array> asked;  ///< 1 for targets that count; empty: all count

  /// Adds the outputs of draw n; turns scores of answers into probabilities in place.
  void add(Array& outputs, std::size_t n) {
    const std::size_t columns = std::max<std::size_t>(1, outputs.shape().back());
    parallel_rows(outputs.size() / columns, columns, [&](std::size_t row) {
      const std::size_t begin = row * columns;
      if (of_answers) to_softmax({outputs.data() + begin, columns});
      for (std::size_t i = begin; i < begin + columns; ++i) {
        const double away = outputs.data()[i] - mean.data()[i];  // Welford, 1962
        mean.data()[i] += away / double(n + 1);
        variance.data()[i] += away * (outputs.data()[i] - mean.data()[i]);
      }
    });
  }
};

Averaged averaged(Task& task, DrawnPosteriors& posteriors, const Examples& examples,
                  std::size_t draws) {
  Averaged result;
  for (std::size_t n = 0; n < std::max<std::size_t>(draws, 1); ++n) {
    std::optional<DrawnPosteriors::Draw> draw;
    if (draws > 0) draw.emplace(posteriors, n);
    const NamedArrays arrays = task.arrays(examples);
    Array outputs = array_called(arrays, "outputs");
    if (n == 0) {
      result.targets = array_called(arrays, "targets");
      for (const auto& [name, array] : arrays)
        if (name == "asked") result.asked = array;
      result.of_answers = task.learner().loss_unit() == "nats" &&
                          outputs.dimension() == result.targets.dimension() + 1;
      result.mean = xt::zeros<double>(outputs.shape());
      result.variance = xt::zeros<double>(outputs.shape());
    }
    result.add(outputs, n);
  }
  for (double& sum : result.variance) sum /= double(std::max<std::size_t>(draws, 2) - 1);
  return result;
}

/// Visits batches of a split; with limit 0 all, with the rest after the last full example.
template <class Body>
void each_batch(Task& task, DrawnPosteriors& posteriors, Split split, std::size_t batch,
                std::size_t draws, std::uint64_t limit, const Body& body) {
  const TakenBatches taken = evaluated_batches(task.data(), split, batch, limit);
  for (std::uint64_t k = 0; k < taken.count; ++k)
    body(averaged(task, posteriors, task.data().part(split, taken.index(k), batch), draws));
  const Examples rest = task.data().rest(split);
  if (limit == 0 && rest.size() > 0) body(averaged(task, posteriors, rest, draws));
}

class AnswerSums {
 public:
  void add(const Averaged& batch) {
    const std::size_t n = batch.mean.shape().back();
    for (std::size_t i = 0; i < batch.targets.size(); ++i)
      if (batch.targets.data()[i] >= 0)
        add(batch.mean.data() + i * n, n, std::size_t(batch.targets.data()[i]));
  }

  PredictiveScores scores() const {
    PredictiveScores scores;
    scores.terms = terms_;
    double error = 0, right = 0;
    for (const Bin& bin : bins_) {
      error += std::abs(bin.sure - bin.right);
      right += bin.right;
    }
    scores.nats = nats_ / double(terms_);
    scores.right = right / double(terms_);
    scores.calibration_error = error / double(terms_);
    return scores;
  }

 private:
  struct Bin {
    double sure = 0, right = 0;
  };

  void add(const double* probabilities, std::size_t n, std::size_t target) {
    const double* top = std::max_element(probabilities, probabilities + n);
    Bin& bin = bins_[std::min(bins_.size() - 1, std::size_t(*top * double(bins_.size())))];
    bin.sure += *top;
    bin.right += top == probabilities + target ? 1 : 0;
    nats_ -= std::log(probabilities[target]);
    ++terms_;
  }

  std::array<Bin, 15> bins_;
  double nats_ = 0;
  std::uint64_t terms_ = 0;
};

/// Calls body(i) for targets of the batch that count.
template <class Body>
void each_value(const Averaged& batch, const Body& body) {
  require(
      batch.mean.shape() == batch.targets.shape(), "calibration",
      "needs a model that predicts the targets themselves; for quantiles and Gaussian processes "
      "use `bochner eval` alone");
  for (std::size_t i = 0; i < batch.targets.size(); ++i)
    if (!std::isnan(batch.targets.data()[i]) && (!batch.asked || batch.asked->data()[i] > 0))
      body(i);
}

/// Variance of residuals at each place of an example.
class Noise {
 public:
  void add(const Averaged& batch) {
    sums_.resize(place_count(batch));
    counts_.resize(sums_.size());
    each_value(batch, [&](std::size_t i) {
      sums_[i % sums_.size()] += std::pow(batch.targets.data()[i] - batch.mean.data()[i], 2);
      ++counts_[i % sums_.size()];
    });
  }
  double variance(std::size_t i) const {
    const std::size_t place = i % sums_.size();
    return counts_[place] > 0 ? sums_[place] / double(counts_[place]) : 0;
  }

 private:
  static std::size_t place_count(const Averaged& batch) {
    return std::max<std::size_t>(1, batch.targets.size() / batch.targets.shape()[0]);
  }
  std::vector<double> sums_;
  std::vector<std::uint64_t> counts_;
};

struct ValueSums {
  double squares = 0, covered = 0;
  std::uint64_t terms = 0;

  void add(const Averaged& batch, const Noise& noise) {
    each_value(batch, [&](std::size_t i) {
      const double away = batch.targets.data()[i] - batch.mean.data()[i];
      const double deviation = std::sqrt(batch.variance.data()[i] + noise.variance(i));
      squares += away * away;
      covered += std::abs(away) <= central_deviations * deviation ? 1 : 0;
      ++terms;
    });
  }
  PredictiveScores scores() const {
    PredictiveScores scores;
    scores.terms = terms;
    scores.rmse = std::sqrt(squares / double(terms));
    scores.coverage = covered / double(terms);
    return scores;
  }
};

}  // namespace

PredictiveScores score_predictions(Task& task, DrawnPosteriors& posteriors, Split split,
                                   std::size_t batch, std::size_t draws) {
  AnswerSums answers;
  ValueSums values;
  Noise noise;
  bool of_answers = false;
  const Split other = split == Split::validation ? Split::train : Split::validation;
  each_batch(task, posteriors, split, batch, draws, 0, [&](const Averaged& now) {
    of_answers = now.of_answers;
    if (of_answers) return answers.add(now);
    if (values.terms == 0)
      each_batch(task, posteriors, other, batch, draws, noise_batches,
                 [&](const Averaged& each) { noise.add(each); });
    values.add(now, noise);
  });
  return of_answers ? answers.scores() : values.scores();
}

std::string PredictiveScores::words() const {
  if (nats)
    return fmt::format("{:.4f} nats   {:.2f} % right   calibration error {:.2f} %", *nats,
                       100 * *right, 100 * *calibration_error);
  return fmt::format("rmse {:.4f}   90 % intervals cover {:.2f} %", *rmse, 100 * *coverage);
}

Json PredictiveScores::json() const {
  if (nats) return {{"nats", *nats}, {"right", *right}, {"calibration_error", *calibration_error}};
  return {{"rmse", *rmse}, {"coverage", *coverage}};
}

}  // namespace bochner

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/probability/k_means.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/eval_scores.hpp>
#include <cmath>
#include <limits>

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

constexpr std::size_t probed_a_task = 512;

/// Adds scores (classes) = x W + b. x (width), weights (width + 1, classes)
void add_scores(const double* x, std::size_t width, std::size_t classes,
                const std::vector<double>& weights, double* scores) {
  std::copy_n(weights.data() + width * classes, classes, scores);
  for (std::size_t j = 0; j < width; ++j) {
    const double* row = weights.data() + j * classes;
    for (std::size_t k = 0; k < classes; ++k) scores[k] += x[j] * row[k];
  }
}

/// Replaces scores by probabilities less 1 at the label. -> -ln of the label's
double to_errors(double* scores, std::size_t classes, std::int32_t label) {
  const double at_label = scores[label], log_sum = to_softmax({scores, classes});
  scores[label] -= 1;
  return log_sum - at_label;
}

/// Mean loss over rows and its gradient; parallel_sums() joins them with the loss last.
struct ProbeLoss {
  const std::vector<double>& x;
  const std::vector<std::int32_t>& labels;
  std::size_t width, classes;
  double penalty;

  double operator()(const std::vector<double>& weights, std::vector<double>& gradient) const {
    const std::size_t n = labels.size(), size = weights.size();
    const std::vector<double> sums = parallel_sums(
        size + 1, n, probed_a_task, [&](std::size_t begin, std::size_t end, double* own) {
          std::vector<double> scores(classes);
          for (std::size_t i = begin; i < end; ++i) {
            add_scores(x.data() + i * width, width, classes, weights, scores.data());
            own[size] += to_errors(scores.data(), classes, labels[i]);
            for (std::size_t j = 0; j <= width; ++j) {
              const double factor = j < width ? x[i * width + j] : 1;
              for (std::size_t k = 0; k < classes; ++k) own[j * classes + k] += factor * scores[k];
            }
          }
        });
    double loss = sums[size] / double(n);
    for (std::size_t i = 0; i < size; ++i) {
      const double slope = i < width * classes ? penalty * weights[i] : 0;
      gradient[i] = sums[i] / double(n) + slope;
      loss += 0.5 * slope * weights[i];
    }
    return loss;
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

LinearProbe::LinearProbe(const Embeddings& training, double penalty)
    : width_(training.width),
      classes_(training.classes),
      mean_(width_),
      scale_(width_, 1),
      weights_((width_ + 1) * classes_) {
  const std::size_t n = training.labels.size();
  for (std::size_t i = 0; i < n * width_; ++i) mean_[i % width_] += training.values[i] / double(n);
  std::vector<double> squares(width_);
  for (std::size_t i = 0; i < n * width_; ++i) {
    const double distance = training.values[i] - mean_[i % width_];
    squares[i % width_] += distance * distance / double(n);
  }
  for (std::size_t j = 0; j < width_; ++j)
    if (squares[j] > 0) scale_[j] = 1 / std::sqrt(squares[j]);
  constexpr double steepness = 1e-7;
  constexpr int evaluations = 10000, rounds = 5;
  const std::vector<double> x = standardized(training);
  const std::vector<double> high(weights_.size(), std::numeric_limits<double>::infinity());
  std::vector<double> low = high;
  for (double& bound : low) bound = -bound;
  const ProbeLoss loss{x, training.labels, width_, classes_, penalty};
  // The search ends early when the loss falls by no more than rounding; a restart discards the
  // history.
  for (int round = 0; round < rounds; ++round)
    weights_ = minimise_in_box(loss, weights_, low, high, steepness, evaluations).x;
}

std::vector<double> LinearProbe::standardized(const Embeddings& embeddings) const {
  std::vector<double> x = embeddings.values;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (x[i] - mean_[i % width_]) * scale_[i % width_];
  return x;
}

std::vector<std::int32_t> LinearProbe::answers(const Embeddings& embeddings) const {
  const std::vector<double> x = standardized(embeddings);
  std::vector<std::int32_t> all;
  std::vector<double> scores(classes_);
  for (std::size_t i = 0; i < x.size(); i += width_) {
    add_scores(x.data() + i, width_, classes_, weights_, scores.data());
    all.push_back(std::int32_t(std::ranges::max_element(scores) - scores.begin()));
  }
  return all;
}

double cluster_purity(const Embeddings& training, const Embeddings& other, std::uint64_t seed) {
  const RandomFunction random{seed, Purpose::sampling, stream_of("purity")};
  const Clusters clusters = k_means(unit_length(training.values, training.width), training.width,
                                    {.clusters = training.classes, .starts = 10}, random);
  const std::vector<std::size_t> nearest =
      nearest_centres(unit_length(other.values, other.width), clusters.centres, training.width);
  std::vector<double> counts(training.classes * training.classes);
  for (std::size_t i = 0; i < nearest.size(); ++i)
    counts[nearest[i] * training.classes + std::size_t(other.labels[i])] += 1;
  double right = 0;
  for (std::size_t k = 0; k < training.classes; ++k) {
    const auto row = counts.begin() + std::ptrdiff_t(k * training.classes);
    right += *std::max_element(row, row + std::ptrdiff_t(training.classes));
  }
  return right / double(nearest.size());
}

std::vector<Measure> probe_measures(Task& task, Split split, std::size_t batch,
                                    std::uint64_t seed) {
  Embeds* embeds = task.abilities().embeds;
  if (!embeds) return {};
  const Embeddings training = embeds->embeddings(Split::train, batch);
  if (training.classes < 2 || training.labels.size() < training.classes) return {};
  const Embeddings other = embeds->embeddings(split, batch);
  const std::vector<std::int32_t> answers = LinearProbe(training).answers(other);
  double right = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) right += answers[i] == other.labels[i];
  const double n = double(answers.size());
  return {{"probe", "right by a linear probe", right, true, n},
          {"purity", "pure clusters", n * cluster_purity(training, other, seed), true, n}};
}

}  // namespace bochner

#include <algorithm>
#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/probability/k_means.hpp>
#include <bochner/train/studies/linear_probe.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

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

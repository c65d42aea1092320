#include <algorithm>
#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/registry.hpp>
#include <bochner/layers/models/bag_of_words.hpp>
#include <cmath>
#include <limits>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t texts_a_task = 64;

/// When L-BFGS stops: at the largest component of the gradient, or after evaluations.
struct Precision {
  double steepness;
  int evaluations;
};
constexpr Precision of_folds{1e-5, 30}, of_all{1e-7, 200};

/// Texts as rows of unit length.
struct WeightedTexts {
  const TermSets& sets;
  std::vector<double> inverse_frequency;  ///< (V) of terms, 0 for those that no fitted text has
  std::vector<double> scales;             ///< (n) 1 / length before scaling

  WeightedTexts(const TermSets& sets, std::vector<double> of_terms)
      : sets(sets), inverse_frequency(std::move(of_terms)), scales(sets.size()) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      double squares = 0;
      for (std::size_t k = sets.begin[i]; k < sets.begin[i + 1]; ++k)
        squares += inverse_frequency[sets.terms[k]] * inverse_frequency[sets.terms[k]];
      scales[i] = squares > 0 ? 1 / std::sqrt(squares) : 0;
    }
  }

  /// Writes the scores of text i. weights (V + 1, C), the biases last -> (C)
  template <class Number>
  void score(std::size_t i, const Number* weights, std::span<double> scores) const {
    const std::size_t C = scores.size();
    std::ranges::fill(scores, 0.0);
    for (std::size_t k = sets.begin[i]; k < sets.begin[i + 1]; ++k) {
      const std::size_t term = sets.terms[k];
      for (std::size_t c = 0; c < C; ++c)
        scores[c] += inverse_frequency[term] * double(weights[term * C + c]);
    }
    const Number* biases = weights + inverse_frequency.size() * C;
    for (std::size_t c = 0; c < C; ++c) scores[c] = scales[i] * scores[c] + double(biases[c]);
  }
};

/// Returns 1 + ln((1 + n) / (1 + n_t)) of each term over some texts, 0 if none has it.
std::vector<double> inverse_frequencies(const TermSets& sets, const std::vector<std::size_t>& texts,
                                        std::size_t terms) {
  std::vector<double> weights(terms);
  for (const std::size_t i : texts)
    for (std::size_t k = sets.begin[i]; k < sets.begin[i + 1]; ++k) ++weights[sets.terms[k]];
  for (double& weight : weights)
    if (weight > 0) weight = 1 + std::log((1 + double(texts.size())) / (1 + weight));
  return weights;
}

/// Mean cross-entropy of some texts with their labels, plus penalty / 2 |W|^2, and its gradient.
class LogisticLoss {
 public:
  LogisticLoss(const TermSets& sets, const std::vector<std::int32_t>& labels,
               std::vector<std::size_t> texts, std::size_t terms, std::size_t classes)
      : rows_(sets, inverse_frequencies(sets, texts, terms)),
        labels_(labels),
        texts_(std::move(texts)),
        terms_(terms),
        classes_(classes),
        first_(terms + 1) {
    for (const std::size_t i : texts_)
      for (std::size_t k = sets.begin[i]; k < sets.begin[i + 1]; ++k) ++first_[sets.terms[k] + 1];
    for (std::size_t t = 0; t < terms; ++t) first_[t + 1] += first_[t];
    with_term_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t row = 0; row < texts_.size(); ++row)
      for (std::size_t k = sets.begin[texts_[row]]; k < sets.begin[texts_[row] + 1]; ++k)
        with_term_[next[sets.terms[k]]++] = std::uint32_t(row);
  }

  const WeightedTexts& rows() const { return rows_; }
  std::size_t size() const { return texts_.size(); }

  /// Returns the weights (V + 1, C) of the least loss, the biases last, starting from `weights`.
  std::vector<double> minimise(std::vector<double> weights, double penalty,
                               const Precision& until) const {
    const std::vector<double> high(weights.size(), std::numeric_limits<double>::infinity());
    std::vector<double> low(weights.size(), -high[0]);
    const auto value = [&](const std::vector<double>& x, std::vector<double>& gradient) {
      return value_at(x, gradient, penalty);
    };
    return minimise_in_box(value, std::move(weights), low, high, until.steepness, until.evaluations)
        .x;
  }

 private:
  double value_at(const std::vector<double>& x, std::vector<double>& gradient,
                  double penalty) const {
    std::vector<double> errors(texts_.size() * classes_);
    const double loss = fill_errors(x, errors);
    const double squares =
        parallel_sum<double>(terms_, 4096, [&](std::size_t from, std::size_t to) {
          double sum = 0;
          for (std::size_t t = from; t < to; ++t) sum += add_term(x, errors, penalty, t, gradient);
          return sum;
        });
    double* biases = gradient.data() + terms_ * classes_;
    std::fill_n(biases, classes_, 0.0);
    for (std::size_t i = 0; i < errors.size(); ++i) biases[i % classes_] += errors[i];
    return loss + 0.5 * penalty * squares;
  }

  /// Sets the gradient of the loss by the scores (n, C) and returns the mean cross-entropy.
  double fill_errors(const std::vector<double>& x, std::vector<double>& errors) const {
    const double n = double(texts_.size());
    const auto sum = [&](std::size_t from, std::size_t to) {
      double loss = 0;
      for (std::size_t row = from; row < to; ++row) {
        const std::span<double> scores(errors.data() + row * classes_, classes_);
        rows_.score(texts_[row], x.data(), scores);
        const std::size_t label = std::size_t(labels_[texts_[row]]);
        const double right = scores[label];
        loss += to_softmax(scores) - right;
        scores[label] -= 1;
        for (double& error : scores) error /= n;
      }
      return loss;
    };
    return parallel_sum<double>(texts_.size(), texts_a_task, sum) / n;
  }

  /// Sets the gradient by the weights of a term and returns their sum of squares.
  double add_term(const std::vector<double>& x, const std::vector<double>& errors, double penalty,
                  std::size_t t, std::vector<double>& gradient) const {
    double squares = 0;
    double* slopes = gradient.data() + t * classes_;
    std::fill_n(slopes, classes_, 0.0);
    for (std::size_t k = first_[t]; k < first_[t + 1]; ++k) {
      const std::size_t row = with_term_[k];
      const double scale = rows_.scales[texts_[row]];
      for (std::size_t c = 0; c < classes_; ++c) slopes[c] += scale * errors[row * classes_ + c];
    }
    for (std::size_t c = 0; c < classes_; ++c) {
      const double weight = x[t * classes_ + c];
      slopes[c] = rows_.inverse_frequency[t] * slopes[c] + penalty * weight;
      squares += weight * weight;
    }
    return squares;
  }

  WeightedTexts rows_;
  const std::vector<std::int32_t>& labels_;
  std::vector<std::size_t> texts_;
  std::size_t terms_, classes_;
  std::vector<std::size_t> first_;        // (V + 1) of each term in with_term_
  std::vector<std::uint32_t> with_term_;  // places in texts_, by term
};

/// Answers to the texts of a fold by a fit to the others, for one penalty after the other.
struct Fold {
  LogisticLoss loss;
  std::vector<std::size_t> held_out;
  std::vector<double> weights;

  /// Adds the answers and returns the sum of -ln probability of the labels.
  double answer(const std::vector<std::int32_t>& labels, std::size_t classes,
                std::vector<HeldOutAnswer>& answers) const {
    double sum = 0;
    std::vector<double> scores(classes);
    for (const std::size_t i : held_out) {
      loss.rows().score(i, weights.data(), scores);
      const double right = scores[std::size_t(labels[i])];
      sum += to_softmax(scores) - right;
      const auto best = std::ranges::max_element(scores);
      answers[i] = {std::int32_t(best - scores.begin()), *best};
    }
    return sum;
  }
};

/// A penalty, and the answers to held-out texts.
struct CrossValidation {
  double strength = 0;  ///< penalty times texts
  double loss = std::numeric_limits<double>::infinity();
  std::vector<HeldOutAnswer> answers = {};
};

CrossValidation cross_validate(const TermSets& texts, const std::vector<std::int32_t>& labels,
                               const BagOfWordsSpec& spec) {
  constexpr double strengths[] = {4, 1, 0.25, 0.06, 0.015, 0.004};
  const std::size_t n = texts.size(), count = std::min(spec.folds, n);
  std::vector<Fold> folds;
  for (std::size_t f = 0; f < count; ++f) {
    std::vector<std::size_t> fitted, held_out;
    for (std::size_t i = 0; i < n; ++i) (i % count == f ? held_out : fitted).push_back(i);
    folds.push_back({{texts, labels, std::move(fitted), spec.terms, spec.classes},
                     std::move(held_out),
                     std::vector<double>((spec.terms + 1) * spec.classes)});
  }
  CrossValidation best;
  for (const double strength : strengths) {
    CrossValidation now{strength, 0, std::vector<HeldOutAnswer>(n)};
    std::vector<double> losses(count);
    parallel_tasks(count, [&](std::size_t f) {
      Fold& fold = folds[f];
      const double penalty = strength / double(fold.loss.size());
      fold.weights = fold.loss.minimise(std::move(fold.weights), penalty, of_folds);
      losses[f] = fold.answer(labels, spec.classes, now.answers);
    });
    for (const double loss : losses) now.loss += loss;
    if (!(now.loss < best.loss)) break;
    best = std::move(now);
  }
  return best;
}

}  // namespace

BagOfWords::BagOfWords(const BagOfWordsSpec& spec)
    : spec_(checked("bag_of_words", spec)),
      inverse_frequency_(zeros({spec.terms})),
      weights_(zeros({spec.terms, spec.classes})),
      bias_(zeros({spec.classes})),
      held_out_(zeros({spec.texts, 2})),
      penalty_(zeros({1})) {}

void BagOfWords::fit(const TermSets& texts, const std::vector<std::int32_t>& labels) {
  require(texts.size() == labels.size() && texts.size() == spec_.texts && spec_.texts >= 2,
          "bag_of_words", "needs the labels of ", spec_.texts, " texts, 2 at least");
  const CrossValidation chosen = cross_validate(texts, labels, spec_);
  std::vector<std::size_t> all(texts.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
    held_out_(i, 0) = real(chosen.answers[i].label);
    held_out_(i, 1) = real(chosen.answers[i].probability);
  }
  const double penalty = chosen.strength / double(texts.size());
  const LogisticLoss loss(texts, labels, all, spec_.terms, spec_.classes);
  const std::vector<double> x =
      loss.minimise(std::vector<double>((spec_.terms + 1) * spec_.classes), penalty, of_all);
  const auto rounded = [](double number) { return real(number); };
  std::ranges::transform(loss.rows().inverse_frequency, inverse_frequency_.data(), rounded);
  std::transform(x.begin(), x.end() - std::ptrdiff_t(spec_.classes), weights_.data(), rounded);
  std::transform(x.end() - std::ptrdiff_t(spec_.classes), x.end(), bias_.data(), rounded);
  penalty_.data()[0] = real(penalty);
}

std::vector<double> BagOfWords::probabilities(const TermSets& texts) const {
  const WeightedTexts rows(texts,
                           {inverse_frequency_.data(), inverse_frequency_.data() + spec_.terms});
  std::vector<double> weights(weights_.data(), weights_.data() + weights_.size());
  weights.insert(weights.end(), bias_.data(), bias_.data() + spec_.classes);
  std::vector<double> result(texts.size() * spec_.classes);
  parallel_each(texts.size(), texts_a_task, [&](std::size_t i) {
    const std::span<double> scores(result.data() + i * spec_.classes, spec_.classes);
    rows.score(i, weights.data(), scores);
    to_softmax(scores);
  });
  return result;
}

HeldOutAnswer BagOfWords::held_out(std::size_t text) const {
  return {std::int32_t(held_out_(text, 0)), double(held_out_(text, 1))};
}

double BagOfWords::effect(std::size_t term, std::size_t label) const {
  return double(inverse_frequency_(term)) * double(weights_(term, label));
}

void BagOfWords::visit(Visitor& visitor) {
  visitor("inverse_document_frequency", inverse_frequency_);
  visitor("weights", weights_);
  visitor("bias", bias_);
  visitor("held_out", held_out_);
  visitor("penalty", penalty_);
}

}  // namespace bochner::inline BOCHNER_PRECISION

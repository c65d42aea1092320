#include <gtest/gtest.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/models/bag_of_words.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace bag_of_words_test {

constexpr std::size_t terms = 12;

/// Texts of random terms; the label is that of the first term, with noise.
struct Sample {
  TermSets texts;
  std::vector<std::int32_t> labels;

  explicit Sample(std::size_t n, std::size_t classes, double noise) {
    const RandomFunction random{3, Purpose::test, 9};
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::uint32_t> text = {std::uint32_t(random.integer(30 * i, classes))};
      for (std::uint32_t term = std::uint32_t(classes); term < terms; ++term)
        if (random.uniform(30 * i + term) < 0.4) text.push_back(term);
      const bool wrong = random.uniform(30 * i + 20) < noise;
      labels.push_back(wrong ? std::int32_t(random.integer(30 * i + 21, classes))
                             : std::int32_t(text[0]));
      texts.add(text);
    }
  }
};

BagOfWordsSpec spec_of(const Sample& sample, std::size_t classes) {
  return {.terms = terms, .classes = classes, .texts = sample.labels.size()};
}

Tensor buffer(Module& model, const std::string& name) {
  for (const NamedTensor& each : buffers_of(model))
    if (each.name == name) return *each.tensor;
  return {};
}

/// The gradient of the loss is 0 at the fit: of the biases, the errors of each class add up to 0;
/// of a weight, its penalty equals what the errors demand.
TEST(BagOfWords, FitsTheMinimumOfItsLoss) {
  const Sample sample(300, 3, 0.3);
  BagOfWords model(spec_of(sample, 3));
  model.fit(sample.texts, sample.labels);
  const std::vector<double> each = model.probabilities(sample.texts);
  const Tensor rarity = buffer(model, "inverse_document_frequency"),
               weights = buffer(model, "weights");
  const double penalty = double(buffer(model, "penalty").data()[0]);
  EXPECT_GT(penalty, 0);
  std::vector<double> slopes(terms * 3), biases(3);
  for (std::size_t i = 0; i < sample.labels.size(); ++i) {
    double squares = 0;
    for (std::size_t k = sample.texts.begin[i]; k < sample.texts.begin[i + 1]; ++k)
      squares += std::pow(double(rarity(sample.texts.terms[k])), 2);
    for (std::size_t c = 0; c < 3; ++c) {
      const double error = (each[i * 3 + c] - (sample.labels[i] == std::int32_t(c))) / 300;
      biases[c] += error;
      for (std::size_t k = sample.texts.begin[i]; k < sample.texts.begin[i + 1]; ++k) {
        const std::size_t term = sample.texts.terms[k];
        slopes[term * 3 + c] += error * double(rarity(term)) / std::sqrt(squares);
      }
    }
  }
  for (const double slope : biases) EXPECT_NEAR(slope, 0, 1e-5);
  for (std::size_t i = 0; i < slopes.size(); ++i)
    EXPECT_NEAR(slopes[i] + penalty * double(weights.data()[i]), 0, 1e-5) << i;
}

TEST(BagOfWords, WeighsTermsByTheirRarity) {
  Sample sample(100, 2, 0);
  BagOfWords model(spec_of(sample, 2));
  model.fit(sample.texts, sample.labels);
  double with = 0;
  for (const std::uint32_t term : sample.texts.terms) with += term == 5;
  EXPECT_NEAR(double(buffer(model, "inverse_document_frequency")(5)),
              1 + std::log(101 / (1 + with)), 1e-5);
}

/// Held-out answers do not see their labels: those of noise are right by chance only.
TEST(BagOfWords, AnswersHeldOutTextsWithoutTheirLabels) {
  const auto right = [](double noise) {
    const Sample sample(400, 2, noise);
    BagOfWords model(spec_of(sample, 2));
    model.fit(sample.texts, sample.labels);
    double sum = 0;
    for (std::size_t i = 0; i < sample.labels.size(); ++i)
      sum += model.held_out(i).label == sample.labels[i];
    return sum / double(sample.labels.size());
  };
  EXPECT_EQ(right(0), 1);
  EXPECT_NEAR(right(1), 0.5, 0.08);
}

TEST(BagOfWords, IsTheSameWithMoreThreads) {
  const Sample sample(500, 3, 0.3);
  std::vector<std::vector<double>> answers;
  for (const std::size_t threads : {1, 3}) {
    set_thread_count(threads);
    BagOfWords model(spec_of(sample, 3));
    model.fit(sample.texts, sample.labels);
    answers.push_back(model.probabilities(sample.texts));
  }
  set_thread_count(0);
  EXPECT_EQ(answers[0], answers[1]);
}

TEST(BagOfWords, LimitsTermsAndNeedsLabels) {
  EXPECT_EQ((BagOfWordsSpec{.classes = 2}.most_terms()), std::size_t(1) << 18);
  EXPECT_EQ((BagOfWordsSpec{.classes = 64}.most_terms()), std::size_t(1) << 14);
  BagOfWords model({.terms = 2, .classes = 2, .texts = 3});
  TermSets texts;
  texts.add({0});
  EXPECT_THROW(model.fit(texts, {0}), std::invalid_argument);
}

}  // namespace bag_of_words_test
}  // namespace bochner::inline BOCHNER_PRECISION

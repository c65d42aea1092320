#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <limits>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_loss_test {

using namespace op_check;

Indices random_labels(const Shape& shape, std::size_t classes) {
  Indices labels{shape, {}};
  const RandomFunction random{7, Purpose::test, 5};
  for (std::size_t i = 0; i < element_count(shape); ++i)
    labels.values.push_back(std::int32_t(random.integer(i, classes)));
  return labels;
}

double naive_cross_entropy(const Tensor& logits, const Indices& labels, double smoothing) {
  const std::size_t V = logits.shape().back();
  double total = 0, counted = 0;
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (labels.values[i] == -1) continue;
    const real* x = logits.data() + i * V;
    double sum = 0;
    for (std::size_t j = 0; j < V; ++j) sum += std::exp(double(x[j]));
    for (std::size_t j = 0; j < V; ++j) {
      const double target =
          smoothing / double(V) + (std::int32_t(j) == labels.values[i] ? 1 - smoothing : 0);
      total -= target * (double(x[j]) - std::log(sum));
    }
    ++counted;
  }
  return total / counted;
}

TEST(CrossEntropy, AgreesWithItsFormula) {
  for (const Shape& shape : {Shape{}, Shape{6}, Shape{3, 4}, Shape{700}}) {
    for (double smoothing : {0.0, 0.1, 1.0}) {
      SCOPED_TRACE(to_string(shape));
      const std::size_t V = shape == Shape{700} ? 100 : 9;
      Shape logits_shape = shape;
      logits_shape.push_back(V);
      const Tensor logits = random_tensor(logits_shape, 1);
      Indices labels = random_labels(shape, V);
      if (labels.values.size() > 2) labels.values[1] = -1;
      EXPECT_NEAR(cross_entropy(logits, labels, real(smoothing)).value().data()[0],
                  naive_cross_entropy(logits, labels, smoothing), tolerance);
    }
  }
}

TEST(CrossEntropy, OfIgnoredLabelsIsZero) {
  for (std::size_t rows : {0, 3}) {
    const Indices labels{{rows}, std::vector<std::int32_t>(rows, -100)};
    const auto results = value_and_gradients(
        [&](Tape&, const std::vector<Var>& x) { return cross_entropy(x[0], labels, 0, -100); },
        {random_tensor({rows, 4}, 1)});
    EXPECT_EQ(results[0], zeros({}));
    EXPECT_EQ(results[1], zeros({rows, 4}));
  }
}

TEST(CrossEntropy, OfOneClassIsZero) {
  const Indices labels{{3}, {0, 0, 0}};
  const auto results = value_and_gradients(
      [&](Tape&, const std::vector<Var>& x) { return cross_entropy(x[0], labels); },
      {random_tensor({3, 1}, 1)});
  EXPECT_EQ(results[0], zeros({}));
  EXPECT_EQ(results[1], zeros({3, 1}));
}

TEST(CrossEntropy, TakesLargeAndMaskedLogits) {
  const real infinity = std::numeric_limits<real>::infinity();
  Tensor logits = zeros({2, 3});
  std::copy_n(std::array<real, 6>{30000, 30000, -infinity, 30000, 29999, -30000}.data(), 6,
              logits.data());
  const Indices labels{{2}, {0, 1}};
  const auto results = value_and_gradients(
      [&](Tape&, const std::vector<Var>& x) { return cross_entropy(x[0], labels); }, {logits});
  const double second = 1 + std::log1p(std::exp(-1.0));
  EXPECT_NEAR(results[0].data()[0], (std::log(2.0) + second) / 2, tolerance);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(std::isfinite(results[1].data()[i]));
  EXPECT_EQ(results[1].data()[2], real(0));
}

TEST(CrossEntropy, HasTheSameBitsWithoutAGradient) {
  for (std::size_t V : {1, 9, 512, 513, 1500}) {
    SCOPED_TRACE(V);
    const Tensor logits = random_tensor({20, V}, 1);
    Indices labels = random_labels({20}, V);
    labels.values[3] = -1;
    const auto results = value_and_gradients(
        [&](Tape&, const std::vector<Var>& x) { return cross_entropy(x[0], labels, real(0.1)); },
        {logits});
    expect_equal_bits(cross_entropy(logits, labels, real(0.1)).value(), results[0]);
  }
}

TEST(CrossEntropy, HasTheGradientOfItsFormula) {
  constexpr std::size_t rows = 5, V = 1500;
  constexpr double smoothing = 0.1;
  const Tensor logits = random_tensor({rows, V}, 1);
  Indices labels = random_labels({rows}, V);
  labels.values[1] = -1;
  for (double arriving : {1.0, 0.3}) {
    Tape tape;
    const Var x = tape.input(logits);
    const Var loss = cross_entropy(x, labels, real(smoothing));
    tape.backward(loss, filled({}, real(arriving)));
    const Tensor gradient = gradient_of(x);
    for (std::size_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < V; ++j) sum += std::exp(double(logits.data()[i * V + j]));
      for (std::size_t j = 0; j < V; ++j) {
        const bool on_label = std::int32_t(j) == labels.values[i];
        const double target = smoothing / V + (on_label ? 1 - smoothing : 0);
        const double softmax = std::exp(double(logits.data()[i * V + j])) / sum;
        const double expected = i == 1 ? 0 : arriving * (softmax - target) / (rows - 1);
        ASSERT_NEAR(gradient.data()[i * V + j], expected, tolerance / 100) << i << ", " << j;
      }
    }
  }
}

/// Single rows, tiles with a short last one, and tiles shortened by many classes.
TEST(AffineCrossEntropy, EqualsTheOpsThatItIsMadeOf) {
  for (const auto& [rows, V] :
       {std::pair<std::size_t, std::size_t>{1, 9}, {128, 9}, {900, 70}, {700, 1500}}) {
    SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(V) + " classes");
    Indices labels = random_labels({rows}, V);
    labels.values[rows / 3] = rows > 1 ? -1 : 0;
    const std::vector<Tensor> inputs{random_tensor({rows, 40}, 1), random_tensor({40, V}, 2),
                                     random_tensor({V}, 3)};
    const auto fused = [&](Tape&, const std::vector<Var>& x) {
      return real(0.3) * affine_cross_entropy(x[0], x[1], x[2], labels, real(0.1));
    };
    const auto composed = [&](Tape&, const std::vector<Var>& x) {
      return real(0.3) * cross_entropy(affine(x[0], x[1], x[2]), labels, real(0.1));
    };
    const auto found = value_and_gradients(fused, inputs);
    const auto expected = value_and_gradients(composed, inputs);
    for (std::size_t i = 0; i < found.size(); ++i)
      expect_near(found[i], expected[i], i == 0 ? 20 * tolerance : tolerance);
    Tape tape;
    expect_equal_bits(fused(tape, {inputs.begin(), inputs.end()}).value(), found[0]);
  }
}

TEST(AffineCrossEntropy, MakesTheGradientsThatAreWanted) {
  constexpr std::size_t rows = 300, D = 20, V = 30;
  const Indices labels = random_labels({rows}, V);
  const std::vector<Tensor> inputs{random_tensor({rows, D}, 1), random_tensor({D, V}, 2),
                                   random_tensor({V}, 3)};
  const auto backward = [&](Tape& tape, const std::vector<Var>& x) {
    tape.backward(affine_cross_entropy(x[0], x[1], x[2], labels));
  };
  Tape whole;
  const std::vector<Var> all{whole.input(inputs[0]), whole.input(inputs[1]),
                             whole.input(inputs[2])};
  backward(whole, all);
  for (std::size_t one = 0; one < inputs.size(); ++one) {
    SCOPED_TRACE(one);
    Tape tape;
    std::vector<Var> x(inputs.begin(), inputs.end());
    x[one] = tape.input(inputs[one]);
    backward(tape, x);
    expect_equal_bits(gradient_of(x[one]), gradient_of(all[one]));
  }
}

TEST(AffineCrossEntropy, NamesWhatIsWrong) {
  const auto error = [](const Shape& x, const Shape& w, const Indices& labels) {
    return error_of([&] { affine_cross_entropy(zeros(x), zeros(w), zeros({w[1]}), labels); });
  };
  Indices labels = random_labels({200}, 9);
  labels.values[130] = 10;
  EXPECT_EQ(error({200, 4}, {4, 10}, labels),
            "[affine_cross_entropy] label 10 at position 130 is not in [0, 10) and not ignore = "
            "-1");
  EXPECT_EQ(error({200, 4}, {5, 10}, labels),
            "[affine_cross_entropy] w must be (D, E) for x (.., D): x (200, 4), w (5, 10)");
}

TEST(CrossEntropy, NamesTheWrongLabel) {
  const auto error = [](const Indices& labels, real smoothing = 0) {
    return error_of([&] { cross_entropy(zeros({3, 10}), labels, smoothing); });
  };
  EXPECT_EQ(error({{3}, {1, -1, 12}}),
            "[cross_entropy] label 12 at position 2 is not in [0, 10) and not ignore = -1");
  EXPECT_EQ(error({{3}, {1, -2, 3}}),
            "[cross_entropy] label -2 at position 1 is not in [0, 10) and not ignore = -1");
  EXPECT_EQ(error({{2}, {1, 2}}),
            "[cross_entropy] labels must be (..) for logits (.., V): logits (3, 10), labels (2)");
  EXPECT_EQ(error({{3}, {1, 2}}), "[cross_entropy] labels of shape (3) have 2 values");
  EXPECT_EQ(error({{3}, {1, 2, 3}}, 2), "[cross_entropy] smoothing must be in [0, 1]: 2");
}

struct Loss {
  const char* name;
  std::function<Var(const Var&, const Tensor&)> op;
  std::function<double(double, double)> formula;
};

std::vector<Loss> losses() {
  return {{"mean_squared_error", mean_squared_error,
           [](double x, double t) { return (x - t) * (x - t); }},
          {"mean_absolute_error", mean_absolute_error,
           [](double x, double t) { return std::abs(x - t); }},
          {"huber", [](const Var& x, const Tensor& t) { return huber(x, t, real(0.7)); },
           [](double x, double t) {
             const double e = std::abs(x - t);
             return e <= 0.7 ? e * e / 2 : 0.7 * (e - 0.35);
           }}};
}

TEST(ElementwiseLosses, AgreeWithTheirFormulas) {
  for (const Loss& loss : losses()) {
    for (const Shape& shape : {Shape{}, Shape{3, 5}, Shape{40000}}) {
      SCOPED_TRACE(loss.name + to_string(shape));
      const Tensor x = random_tensor(shape, 1);
      Tensor t = random_tensor(shape, 2);
      for (std::size_t i = 0; i < t.size(); ++i)
        t.data()[i] = real(0.5) + std::sin(t.data()[i]) / 2;
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += loss.formula(x.data()[i], t.data()[i]);
      EXPECT_NEAR(loss.op(x, t).value().data()[0], sum / double(x.size()), tolerance);
    }
  }
}

TEST(ElementwiseLosses, OfNothingAreZero) {
  for (const Loss& loss : losses()) {
    EXPECT_EQ(loss.op(zeros({0, 3}), zeros({0, 3})).value(), zeros({})) << loss.name;
    EXPECT_EQ(error_of([&] { loss.op(zeros({2}), zeros({3})); }),
              std::string("[") + loss.name + "] shapes differ: x (2), targets (3)");
  }
}

TEST(ElementwiseLosses, WantAPositiveDelta) {
  EXPECT_EQ(error_of([] { huber(zeros({2}), zeros({2}), 0); }),
            "[huber] delta must be positive: 0");
}

TEST(ElementwiseLosses, HaveNoSlopeAtZeroAbsoluteError) {
  const auto results = value_and_gradients(
      [](Tape&, const std::vector<Var>& v) { return mean_absolute_error(v[0], zeros({3})); },
      {zeros({3})});
  EXPECT_EQ(results[1], zeros({3}));
}

TEST(Pinball, IsTheMeanOverLevels) {
  const Tensor x{{1, 2, 4}, {0, 0, 5}}, t{3, -1};
  const double first = 0.1 * 2 + 0.5 * 1 + (1 - 0.9) * 1,
               second = (1 - 0.1) * 1 + (1 - 0.5) * 1 + (1 - 0.9) * 6;
  EXPECT_NEAR(pinball(x, t, {0.1, 0.5, 0.9}).value().data()[0], (first + second) / 6, tolerance);
  EXPECT_EQ(pinball(zeros({0, 2}), zeros({0}), {0.1, 0.9}).value(), zeros({}));
}

/// The loss is minimal at the quantile of level p.
TEST(Pinball, IsLeastAtTheQuantile) {
  const std::size_t n = 999;
  Tensor t = uninitialized({n});
  for (std::size_t i = 0; i < n; ++i) t.data()[i] = real(i + 1) / real(n + 1);
  for (const double p : {0.1, 0.5, 0.8}) {
    const auto loss = [&](double x) {
      return double(pinball(filled({n, 1}, real(x)), t, {p}).value().data()[0]);
    };
    EXPECT_LT(loss(p), loss(p - 0.02));
    EXPECT_LT(loss(p), loss(p + 0.02));
  }
}

/// Twice the median's loss is the mean absolute error.
TEST(Pinball, OfTheMedianIsHalfTheAbsoluteError) {
  const Tensor x = random_tensor({40, 1}, 1), t = random_tensor({40}, 2);
  const Tensor flat = random_tensor({40}, 1);
  EXPECT_NEAR(2 * pinball(x, t, {0.5}).value().data()[0],
              mean_absolute_error(flat, t).value().data()[0], tolerance);
}

TEST(Pinball, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of([] {
              pinball(zeros({2, 3}), zeros({2}), {0.1, 0.9});
            }),
            "[pinball] x must be (.., 2) for targets (..): x (2, 3), targets (2)");
  EXPECT_EQ(error_of([] {
              pinball(zeros({2, 1}), zeros({2}), {1});
            }),
            "[pinball] levels must be between 0 and 1: 1");
}

}  // namespace ops_loss_test
}  // namespace bochner::inline BOCHNER_PRECISION

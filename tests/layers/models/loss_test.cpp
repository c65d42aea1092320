#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/label_loss.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace loss_test {

using namespace layer_check;
using op_check::error_of;

/// -(1 - p) ln p of the probability p of the label; `is_mean`: its mean.
class Focal : public LabelLoss {
 public:
  explicit Focal(bool is_mean = false) : is_mean_(is_mean) {}
  explicit Focal(const LossSpec&) : Focal() {}
  Var of_labels(const Var& logits, const Indices& labels) const override {
    const Var log_p = label_log_probabilities(logits, labels), each = (exp(log_p) - 1) * log_p;
    return is_mean_ ? mean(each) : each;
  }

 private:
  bool is_mean_;
};

class WrongShape : public LabelLoss, public ValueLoss {
 public:
  Var of_labels(const Var& logits, const Indices&) const override { return logits; }
  Var of_values(const Var& predicted, const Var&) const override { return sum(predicted, {0}); }
};

double value_of(const Var& loss) { return double(loss.value()()); }
double focal(double p) { return -(1 - p) * std::log(p); }

/// Probabilities of the labels: 3/4, none, 1/2, 1/4.
const Tensor logits = {{real(0), real(std::log(3.0))},
                       {real(5), real(-5)},
                       {real(0), real(0)},
                       {real(0), real(std::log(3.0))}};
const Indices labels{{4}, {1, -1, 0, 0}};

TEST(Losses, OfLabelsLeaveOutRowsWithoutOne) {
  const double expected = (focal(0.75) + focal(0.5) + focal(0.25)) / 3;
  EXPECT_NEAR(value_of(mean_loss(Focal(), Var(logits), labels)), expected, 1e-6);
  EXPECT_NEAR(value_of(mean_loss(Focal(true), Var(logits), labels)), expected, 1e-6);
  const Var cube = reshape(Var(logits), {2, 2, 2});
  EXPECT_NEAR(value_of(mean_loss(Focal(), cube, {{2, 2}, labels.values})), expected, 1e-6);
  EXPECT_EQ(value_of(mean_loss(Focal(), Var(logits), {{4}, {-1, -1, -1, -1}})), 0);
}

TEST(Losses, OfLabelsWeighClasses) {
  const double expected = (2 * focal(0.75) + 0.5 * focal(0.5) + 0.5 * focal(0.25)) / 3;
  EXPECT_NEAR(value_of(mean_loss(Focal(), Var(logits), labels, {0.5, 2})), expected, 1e-6);
  EXPECT_EQ(error_of([] {
              mean_loss(Focal(true), Var(logits), labels, {0.5, 2});
            }),
            "[loss] weights of classes need a loss of each label, not the mean; return (n)");
}

TEST(Losses, HaveTheShapeOfTheirTargets) {
  EXPECT_EQ(error_of([] { mean_loss(WrongShape(), Var(logits), labels); }),
            "[loss] of_labels returned (3, 2); expected one number for each target (3), or their "
            "mean ()");
  EXPECT_EQ(error_of([] { mean_loss(WrongShape(), Var(logits), logits); }),
            "[loss] of_values returned (2); expected one number for each target (4, 2), or their "
            "mean ()");
}

TEST(Losses, BuiltInOnesAreTheOps) {
  const Tensor truth = filled({4, 2}, real(0.5));
  EXPECT_EQ(value_of(mean_loss(*make_value_loss({"mse"}), Var(logits), truth)),
            value_of(mean_squared_error(Var(logits), truth)));
  EXPECT_EQ(value_of(mean_loss(*make_value_loss({"huber"}), Var(logits), truth)),
            value_of(huber(Var(logits), truth)));
  EXPECT_NEAR(value_of(mean_loss(*make_label_loss({"cross_entropy"}), Var(logits), labels)),
              value_of(cross_entropy(Var(logits), labels)), 1e-6);
  EXPECT_EQ(error_of([] { make_label_loss({"mae"}); }),
            "[loss] no loss of labels is called \"mae\"; there are: cross_entropy");
}

/// Evaluation is by cross entropy.
TEST(Losses, TrainLanguageModels) {
  const Losses before = losses();
  losses().add("focal", make<Focal>);
  LanguageModelSpec spec;
  spec.vocabulary = 5, spec.length = 4, spec.blocks = 1;
  spec.block.width = 8, spec.block.mixer.kind = "softmax", spec.block.mixer.heads = 2;
  LanguageModel exact(spec);
  spec.loss.kind = "focal";
  LanguageModel model(spec);
  losses() = before;
  randomize(exact, 0.4), randomize(model, 0.4);
  const Indices tokens{{2, 4}, {0, 1, 2, 3, 4, 3, 2, 1}}, next{{2, 4}, {1, -1, 3, 4, 3, 2, 1, -1}};
  const auto loss_of = [&](LanguageModel& of, bool training) {
    Tape tape({.training = training});
    return value_of(of.loss(tape, tokens, next));
  };
  EXPECT_EQ(loss_of(model, false), loss_of(exact, false));
  Tape tape({.recording = false});
  EXPECT_NEAR(loss_of(model, true), value_of(mean_loss(Focal(), model.logits(tape, tokens), next)),
              1e-6);
}

}  // namespace loss_test
}  // namespace bochner::inline BOCHNER_PRECISION

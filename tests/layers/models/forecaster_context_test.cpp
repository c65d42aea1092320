#include <bochner/layers/models/forecaster.hpp>

#include "layers/layer_check.hpp"
#include "layers/models/small_forecaster.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace forecaster_context_test {

using namespace layer_check;
using namespace small_forecaster;

/// Returns the spec of a forecaster of two series with covariates.
ForecasterSpec informed(const std::string& backbone, std::size_t hidden = 3) {
  ForecasterSpec spec = tiny(backbone);
  spec.series = 2, spec.covariates = 2, spec.series_width = 1, spec.effects = hidden;
  return spec;
}

RowFacts facts_of(std::size_t B) {
  RowFacts facts{irregular_times(B), random_tensor({B, 2, 12}, 11), {}};
  for (std::size_t b = 0; b < B; ++b) facts.series.push_back(b % 2);
  return facts;
}

TEST(ForecasterContext, OfCovariatesIsDifferentiableThroughAllItsParameters) {
  const Tensor past = random_tensor({2, 2, 9}, 1), future = random_tensor({2, 2, 3}, 2);
  for (const char* backbone : {"linear", "attention", "rows"})
    for (const std::size_t hidden : {0, 3})
      for (const char* loss : {"mse", "quantile"}) {
        SCOPED_TRACE(std::string(backbone) + " " + std::to_string(hidden) + " " + loss);
        ForecasterSpec spec = informed(backbone, hidden);
        spec.loss.kind = loss;
        Forecaster model(spec);
        randomize(model, 0.4);
        check_layer(model, past, [&](Tape& tape, const Var& x) {
          return model.loss(model.forward(tape, x, facts_of(2)), future);
        });
      }
}

/// Covariates of a future row change its forecast only, unless the backbone sees them; another
/// series gives another forecast.
TEST(ForecasterContext, SeesWhatIsKnownOfRowsToCome) {
  const Tensor past = random_tensor({1, 2, 9}, 1);
  for (const char* backbone : {"linear", "attention", "rows"}) {
    SCOPED_TRACE(backbone);
    Forecaster model(informed(backbone));
    randomize(model, 0.4);
    const auto said = [&](const RowFacts& facts) {
      Tape tape({.recording = false});
      return Tensor(model.forward(tape, tape.view(past), facts).value());
    };
    const RowFacts facts = facts_of(1);
    const Tensor before = said(facts);
    RowFacts changed = facts;
    changed.covariates(0, 1, 9 + 1) += 1;
    const Tensor after = said(changed);
    for (std::size_t v = 0; v < 2; ++v) {
      EXPECT_EQ(after(0, v, 0), before(0, v, 0)) << "rows before it do not see it";
      EXPECT_NE(after(0, v, 1), before(0, v, 1));
    }
    changed = facts;
    changed.covariates(0, 0, 4) += 1;
    EXPECT_NE(said(changed), before) << "nor does the past go unseen";
    changed = facts;
    changed.series = {1};
    EXPECT_NE(said(changed), before);
  }
}

/// Zero weights forecast the last value less its effects, plus the effect of the row.
TEST(ForecasterContext, AddsTheEffectsOfTheRowsToCome) {
  ForecasterSpec spec = tiny("linear");
  spec.covariates = 1, spec.effects = 0, spec.instance_norm.kind = "last";
  Forecaster model(spec);
  for (const NamedParameter& named : parameters_of(model)) named.parameter->value().fill(0);
  Tensor& effect = parameters_of(model).front().parameter->value();
  ASSERT_EQ(parameters_of(model).front().name, "effects.down");
  effect(0, 0) = 2, effect(0, 1) = -1;
  const Tensor past = random_tensor({1, 2, 9}, 1), covariates = random_tensor({1, 1, 12}, 2);
  Tape tape({.recording = false});
  const Tensor y = model.forward(tape, tape.view(past), {{}, covariates, {}}).value();
  for (std::size_t h = 0; h < 3; ++h) {
    EXPECT_NEAR(y(0, 0, h), past(0, 0, 8) + 2 * covariates(0, 0, 9 + h), 1e-5);
    EXPECT_NEAR(y(0, 1, h), past(0, 1, 8) - covariates(0, 0, 9 + h), 1e-5);
  }
}

TEST(ForecasterContext, SaysQuantilesThatDoNotCross) {
  for (const char* backbone : {"linear", "attention", "rows"}) {
    SCOPED_TRACE(backbone);
    ForecasterSpec spec = tiny(backbone);
    spec.loss.kind = "quantile", spec.quantiles = {0.05, 0.25, 0.5, 0.75, 0.95};
    Forecaster model(spec);
    randomize(model, 5);
    Tape tape({.recording = false});
    const Tensor past = random_tensor({7, 2, 9}, 4);
    Tensor said = model.forward(tape, tape.view(past), {irregular_times(7)}).value();
    model.standardize().undo(said);
    ASSERT_EQ(to_string(said.shape()), "(7, 2, 3, 5)");
    for (std::size_t i = 0; i + 1 < said.size(); ++i)
      EXPECT_TRUE(i % 5 == 4 || said.data()[i] <= said.data()[i + 1]) << i;
  }
}

}  // namespace forecaster_context_test
}  // namespace bochner::inline BOCHNER_PRECISION

#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/models/quantile_start.hpp>

#include "layers/layer_check.hpp"
#include "layers/models/small_forecaster.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace quantile_start_test {

using namespace layer_check;
using namespace small_forecaster;

constexpr double normal_quantile = 1.2816;  // of 0.9

/// Windows of two variates, and futures that the window determines up to noise of this deviation.
struct Windows {
  Tensor past = random_tensor({900, 2, 9}, 1), future = random_tensor({900, 2, 3}, 2);
  explicit Windows(double noise) {
    for (std::size_t i = 0; i < future.size(); ++i) {
      const real* seen = past.data() + i / 3 * 9;
      future.data()[i] = real(noise) * future.data()[i] + seen[8] + 2 * (seen[i % 3] - seen[4]);
    }
  }
};

ForecasterSpec quantile_spec(const std::string& backbone) {
  ForecasterSpec spec = tiny(backbone);
  spec.loss.kind = "quantile", spec.quantiles = {0.1, 0.5, 0.9};
  spec.instance_norm.kind = "last";
  return spec;
}

/// Bands are as wide as the noise makes them, whatever the window, before the first step.
TEST(QuantileStart, GivesBandsTheWidthOfResiduals) {
  for (const double noise : {0.01, 1.0, 50.0}) {
    const Windows windows(noise);
    for (const char* backbone : {"linear", "attention", "rows"}) {
      SCOPED_TRACE(std::string(backbone) + ", noise " + std::to_string(noise));
      Forecaster model(quantile_spec(backbone));
      initialize(model, 1);
      model.start_quantiles(windows.past, windows.future);
      Tape tape({.recording = false});
      const Tensor past = random_tensor({4, 2, 9}, 3);
      const Tensor bands = model.forward(tape, past, {irregular_times(4)}).value();
      for (std::size_t i = 0; i < bands.size(); i += 3) {
        EXPECT_NEAR(bands.data()[i + 1] - bands.data()[i], normal_quantile * noise, 0.15 * noise);
        EXPECT_NEAR(bands.data()[i + 2] - bands.data()[i + 1], normal_quantile * noise,
                    0.15 * noise);
      }
    }
  }
}

/// Each map of a decomposed window has weights for every quantile.
TEST(QuantileStart, CountsTheTrendOnce) {
  const Windows windows(1);
  ForecasterSpec spec = quantile_spec("linear");
  spec.moving_average = 3, spec.per_variate = true;
  Forecaster model(spec);
  initialize(model, 1);
  model.start_quantiles(windows.past, windows.future);
  Tape tape({.recording = false});
  const Tensor bands = model.forward(tape, random_tensor({4, 2, 9}, 3)).value();
  for (std::size_t i = 0; i < bands.size(); i += 3)
    EXPECT_NEAR(bands.data()[i + 2] - bands.data()[i], 2 * normal_quantile, 0.3);
}

TEST(QuantileStart, TakesFewWindowsAsTheyAre) {
  const Tensor past = random_tensor({3, 4}, 1), future = random_tensor({3, 2}, 2);
  const auto columns = ridge_residuals(past, future);
  ASSERT_EQ(columns.size(), 2u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(columns[1][i], double(future(i, 1)));
}

}  // namespace quantile_start_test
}  // namespace bochner::inline BOCHNER_PRECISION

#include <gtest/gtest.h>

#include <bochner/layers/mixers/mixers.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/trained_study.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"

namespace bochner {
namespace attention_window_test {

using op_check::random_tensor;

constexpr std::size_t T = 8;

/// A mixer of one head whose outputs are its weights: tokens are unit vectors, and so are values.
struct Weighing : Module, AttentionObserver {
  explicit Weighing(const std::string& kind, std::size_t window, const std::string& time = "none") {
    MixerSpec spec;
    spec.kind = kind, spec.width = T, spec.heads = 1, spec.causal = true, spec.window = window;
    spec.time_kernel.kind = time, spec.features.m = 16, spec.chunk = 4;
    spec.features.density.draws = "iid";
    mixer = mixers().make(kind, spec);
    initialize(*this, 1);
    for (const NamedParameter& named : parameters_of(*this)) {
      Tensor& value = named.parameter->value();
      const bool rows = named.name == "mixer.query.weight" || named.name == "mixer.key.weight";
      if (rows) value = Tensor(random_tensor(value.shape(), 7 + named.name.size()) * real(0.7));
      if (named.name.ends_with(".bias")) value = zeros(value.shape());
      const bool kept = named.name == "mixer.value.weight" || named.name == "mixer.output.weight";
      for (std::size_t i = 0; kept && i < T * T; ++i)
        value.data()[i] = real(i % (T + 1) == 0 ? 1 : 0);
    }
    Tensor tokens = zeros({1, T, T});
    for (std::size_t t = 0; t < T; ++t) tokens(0, t, t) = 1;
    Tape tape;
    tape.observer = this;
    const Tensor y = mixer->forward(tape, tape.view(tokens), {}).value();
    weights.assign(y.data(), y.data() + y.size());
  }
  void visit(Visitor& visitor) override { visitor("mixer", *mixer); }
  void attended(const Mixer&, const AttentionInputs& what) override {
    sample = {.q = what.q.value(), .k = what.k.value()};
    if (what.rate.exists()) sample.rate = what.rate.value();
    sample.window = what.window;
  }
  AttentionLayer layer() { return attention_layers(*this).at(0); }

  std::unique_ptr<Mixer> mixer;
  AttentionSample sample;
  std::vector<double> weights;  // (T, T)
};

void expect_equal(const Tensor& weights, const std::vector<double>& expected) {
  ASSERT_EQ(weights.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(double(weights.data()[i]), expected[i], 1e-5) << i / T << ", " << i % T;
}

void expect_maps(const char* mixer, Tensor AttentionMaps::*map) {
  for (const std::size_t window : {0u, 1u, 3u, 20u})
    for (const char* time : {"none", "decay"}) {
      SCOPED_TRACE(testing::Message() << window << " " << time);
      Weighing one(mixer, window, time);
      expect_equal(attention_maps(one.layer(), one.sample, T).at(0).*map, one.weights);
    }
}

TEST(AttentionWindow, MapsAreWhatLinearAttentionComputes) {
  expect_maps("linear", &AttentionMaps::estimated);
}

TEST(AttentionWindow, MapsAreWhatSoftmaxComputes) { expect_maps("softmax", &AttentionMaps::exact); }

TEST(AttentionWindow, OfAllTokensLeavesNoError) {
  Weighing some("linear", 3), all("linear", T);
  const HeadMetrics near = head_metrics(all.layer(), all.sample, T).at(0);
  EXPECT_NEAR(near.bias, 0, 1e-5);
  EXPECT_EQ(near.deviation, 0);
  EXPECT_EQ(near.error, 0);
  EXPECT_NEAR(near.estimated_entropy, near.entropy, 1e-5);
  const HeadMetrics far = head_metrics(some.layer(), some.sample, T).at(0);
  EXPECT_GT(far.deviation, 1e-4);
  const TrainedOptions options{.draws = "iid", .sets = 8, .positions = T};
  EXPECT_NEAR(study_trained(all.layer(), all.sample, options)->own(), 0, 1e-5);
  EXPECT_GT(study_trained(some.layer(), some.sample, options)->own(), 1e-4);
}

/// Whatever the norms of features, and of no key that is still to come.
TEST(AttentionWindow, IsWeighedInTheUnitOfFeatures) {
  HeadFeatures features{{filled({3, 1}, 1), 60}, {filled({3, 1}, 1), 60}};
  Tensor q = filled({3, 1}, 10), k = zeros({3, 1});
  k(0, 0) = 12, k(1, 0) = 12, k(2, 0) = 500;
  HeadEstimate estimate = estimate_of(features, q, k, 1);
  const Tensor two = normalized_rows(estimate.sums);
  EXPECT_EQ(two(0, 0), 1);
  EXPECT_NEAR(two(1, 0), 0.5, 1e-6);  // e^120 both
  EXPECT_EQ(two(1, 2), 0);
  EXPECT_EQ(two(2, 2), 1);
  EXPECT_EQ(estimate.squares(1, 1), 0);
}

TEST(AttentionWindow, HidesLags) {
  const Tensor y = beyond_window(filled({3, 3}, 1), 2);
  EXPECT_EQ(y(2, 0), 1);
  EXPECT_EQ(y(2, 1) + y(2, 2) + y(1, 0) + y(0, 0), 0);
  EXPECT_EQ(beyond_window(filled({3, 3}, 1), 0), filled({3, 3}, 1));
}

}  // namespace attention_window_test
}  // namespace bochner

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/ops.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

#include "train/tasks/fields/field_config.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace place_attention_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Learner of a field, its layers and its first specimen.
struct Field {
  std::unique_ptr<Task> task;
  PlacedExample example;
  std::vector<AttentionLayer> layers;

  explicit Field(const std::vector<std::string>& sets = {}) : task(make_task(field_config(sets))) {
    example = task->learner().abilities().specimens->placed_specimen(0);
    layers = attention_layers(task->model());
  }
  std::vector<AttentionSample> samples() {
    return attention_samples(kept_specimens(task->learner()), layers);
  }
  std::string html() {
    Page page("field", "");
    add_place_attention(page, example, layers, samples());
    add_frequency_losses(page, *task);
    return page.html();
  }
};

TEST(PlaceCells, AreThePatchesAndFramesOfAField) {
  const Field field;
  const PlaceCells cells = place_cells(field.example.tokens);
  EXPECT_EQ(cells.rows, 6u);
  EXPECT_EQ(cells.columns, 4u);
  EXPECT_THAT(cells.frames, ElementsAre("frame 1 of 3", "frame 2 of 3", "frame 3 of 3"));
  for (std::size_t t = 0; t < cells.of_token.size(); ++t) EXPECT_EQ(cells.of_token[t], t);
  EXPECT_EQ(field.example.asked.size(), 24u);
  EXPECT_EQ(field.example.asked.front(), 48u);
}

/// Eight intervals of a coordinate that sensors share unevenly, six of their times.
TEST(PlaceCells, AreIntervalsOfUnevenPlaces) {
  const TokenPoints tokens{{2, {0, 0, 1, 0.99, 0.3, 0.51, 0, 0}}, {0, 1, 0.4, 0.9}};
  const PlaceCells cells = place_cells(tokens);
  EXPECT_EQ(cells.rows, 8u);
  EXPECT_EQ(cells.columns, 8u);
  EXPECT_EQ(cells.frames.back(), "0.83 to 1.00");
  EXPECT_THAT(cells.of_token, ElementsAre(0, 5 * 64 + 63, 2 * 64 + 2 * 8 + 4, 5 * 64));
}

/// Two queries of four keys, two of which share a cell; no key is in the last.
TEST(PlaceAttention, SumsTheWeightsOfEachCell) {
  const Tensor weights(xt::cast<real>(xt::xarray<double>{{0.1, 0.2, 0.3, 0.4}, {0.5, 0, 0.5, 0}}));
  const PlaceCells cells{1, 2, {"a", "b"}, {0, 2, 1, 1}};
  const std::vector<double> shares = weight_by_place(weights, cells);
  EXPECT_NEAR(shares[0], 0.3, 1e-6);
  EXPECT_NEAR(shares[1], 0.6, 1e-6);
  EXPECT_NEAR(shares[2], 0.1, 1e-6);
  EXPECT_TRUE(std::isnan(shares[3]));
}

/// Queries of zero see all places of all frames alike.
TEST(PlaceAttention, OfEqualKernelsIsEven) {
  Field field({"model.mixer.kind=softmax"});
  for (const NamedParameter& named : parameters_of(field.task->model()))
    if (named.name.find("query") != std::string::npos) named.parameter->value().fill(0);
  const PlaceCells cells = place_cells(field.example.tokens);
  const auto heads = weights_of_queries(field.layers[0], field.samples()[0], field.example.asked);
  ASSERT_EQ(heads.size(), 2u);
  for (const Tensor& head : heads)
    for (const double share : weight_by_place(head, cells)) EXPECT_NEAR(share, 1.0 / 72, 1e-6);
}

/// Linear attention: the implied weights of its map, those of whole attention maps.
TEST(PlaceAttention, OfAFeatureMapHasItsWeights) {
  Field field({"model.mixer.kind=linear"});
  const std::vector<AttentionSample> samples = field.samples();
  const std::vector<AttentionMaps> maps = attention_maps(field.layers[0], samples[0], 72);
  const auto heads = weights_of_queries(field.layers[0], samples[0], {5, 71});
  for (std::size_t h = 0; h < heads.size(); ++h)
    for (std::size_t j = 0; j < 72; ++j) {
      EXPECT_NEAR(heads[h](0, j), maps[h].estimated(5, j), 1e-6);
      EXPECT_NEAR(heads[h](1, j), maps[h].estimated(71, j), 1e-6);
    }
}

TEST(PlaceAttention, IsDrawnForFieldsOfAnyDimension) {
  for (const std::vector<std::string>& sets : std::vector<std::vector<std::string>>{
           {},
           {"data.dimensions=1", "data.height=0", "data.width=12"},
           {"data.dimensions=3", "data.planes=4", "data.height=4", "model.encoding.space=6"}}) {
    Field field(sets);
    const std::string html = field.html();
    EXPECT_EQ(xml_problem(html), "");
    EXPECT_THAT(html, HasSubstr("one query"));
    EXPECT_THAT(html, HasSubstr("outline"));
    const bool line = !sets.empty() && sets[0] == "data.dimensions=1";
    EXPECT_EQ(html.find("one query, frame 3 of 3") == std::string::npos, line);
  }
}

/// One channel y = sum over f of (a_f sin(pi f x) + b_f cos(pi f x)) / sqrt(m) on a grid of 16
/// nodes, where sine and cosine of half turns are orthogonal, with mean square 1/2. The loss is the
/// mean square distance from the whole y: (a_f^2 + b_f^2) / (2 m) without frequency f.
TEST(FrequencyLosses, AreTheEnergiesOfTheWavesLeftOut) {
  constexpr std::size_t m = 3, nodes = 16;
  SpaceTimeSpec spec;
  spec.kind = "space", spec.width = 1;
  spec.space = {.dimensions = 1, .frequencies = m, .kind = "linear", .scale = 1.5};
  FusedProjection encoding(spec);
  initialize(encoding, 1);
  const std::vector<double> w{2, -1, 0.5, 0, 3, 1};  // a, then b
  std::copy(w.begin(), w.end(), encoding.weight().value().data());
  std::vector<double> axis(nodes);
  for (std::size_t i = 0; i < nodes; ++i) axis[i] = double(i) / nodes;
  const auto y = [&] {
    Tape tape({.recording = false});
    return encoding.grid(tape, {axis}, {0}).value();
  };
  const Tensor whole = y();
  const auto loss = [&] {
    const Tensor now = y();
    double sum = 0;
    for (std::size_t i = 0; i < nodes; ++i)
      sum += std::pow(double(now.data()[i] - whole.data()[i]), 2);
    return sum / nodes;
  };
  const std::vector<EncodedFrequency> frequencies = encoding.frequencies();
  const std::vector<double> losses = losses_without(frequencies, loss);
  ASSERT_EQ(losses.size(), m);
  for (std::size_t f = 0; f < m; ++f) {
    EXPECT_NEAR(frequencies[f].radians[0], 3.14159265 * double(f + 1), 1e-5);
    EXPECT_NEAR(losses[f], (w[f] * w[f] + w[m + f] * w[m + f]) / (2 * m), 1e-5);
  }
  EXPECT_EQ(loss(), 0);  // the weights are as before
}

TEST(FrequencyLosses, AreNotMeasuredWhereThatIsTooMuch) {
  Field field;
  EXPECT_THAT(field.html(), HasSubstr("validation loss without one frequency"));
  Field large({"model.encoding.space=4000"});
  EXPECT_THAT(large.html(), HasSubstr("Not measured"));
  Field none({"model.encoding.kind=none"});
  EXPECT_THAT(none.html(), Not(HasSubstr("Contribution")));
}

}  // namespace place_attention_test
}  // namespace bochner

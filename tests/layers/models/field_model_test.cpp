#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/field_model.hpp>

#include "layers/layer_check.hpp"
#include "layers/models/small_spec.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace field_model_test {

using namespace layer_check;

FieldModelSpec small_spec(const std::string& encoding = "fused") {
  return with_small_parts(FieldModelSpec{.frames = 2, .sides = {4, 6}, .patch = 2}, encoding);
}

Tensor prediction(FieldModel& model, const Tensor& frames) {
  Tape tape({.recording = false});
  return model.predict(tape, frames).value();
}

/// Compares all parameters with central differences; frames have no gradient.
void expect_differentiable(const FieldModelSpec& spec) {
  FieldModel model(spec);
  randomize(model, 0.3);
  Shape seen{2, spec.frames}, one{2};
  for (Shape* shape : {&seen, &one})
    shape->insert(shape->end(), spec.sides.begin(), spec.sides.end());
  const Tensor frames = random_tensor(seen, 1), next = random_tensor(one, 2);
  check_layer(model, random_tensor({1}, 3), [&](Tape& tape, const Var& factor) {
    return model.loss(tape, frames, next) * factor;
  });
}

TEST(FieldModel, IsDifferentiableWithEveryEncoding) {
  for (const char* kind :
       {"fused", "space", "time", "additive", "concatenated", "multiplicative", "none"}) {
    SCOPED_TRACE(kind);
    FieldModelSpec spec = small_spec(kind);
    if (std::string(kind) == "concatenated") spec.stack.block.width = 12;
    expect_differentiable(spec);
  }
  FieldModelSpec spec = small_spec();
  spec.every_block = true;
  expect_differentiable(spec);
}

TEST(FieldModel, IsDifferentiableInOneAndThreeDimensions) {
  for (const std::vector<std::size_t>& sides : {std::vector<std::size_t>{6}, {2, 4, 2}}) {
    FieldModelSpec spec = small_spec();
    spec.sides = sides;
    spec.encoding.space.frequencies = 3;
    expect_differentiable(spec);
  }
}

/// A head that copies the first pixels of its token puts each patch back, in any dimension.
TEST(FieldModel, CutsFilmsOfAnyDimensionAndJoinsThem) {
  for (const std::vector<std::size_t>& sides : {std::vector<std::size_t>{6}, {4, 6}, {2, 4, 6}}) {
    FieldModelSpec spec = small_spec("none");
    spec.sides = sides;
    spec.stack.blocks = 0;
    spec.stack.block.norm = "rms";
    FieldModel model(spec);
    for (const NamedParameter& named : parameters_of(model)) {
      Tensor& value = named.parameter->value();
      if (named.name.ends_with("bias")) value.fill(0);
      if (value.dimension() != 2) continue;
      value.fill(0);
      for (std::size_t i = 0; i < std::min(value.shape()[0], value.shape()[1]); ++i)
        value(i, i) = 1;
    }
    Shape shape{1, 2};
    shape.insert(shape.end(), sides.begin(), sides.end());
    const Tensor frames = random_tensor(shape, 1);
    Tape tape;
    const Tensor read = model.reconstruct(tape, frames).value();
    ASSERT_EQ(to_string(read.shape()), to_string(shape));
    for (std::size_t i = 0; i < frames.size(); ++i)
      EXPECT_EQ(read.data()[i] > 0, frames.data()[i] > 0) << i;
    const auto ratio = [&](std::size_t i) {
      return double(read.data()[i]) / double(frames.data()[i]);
    };
    EXPECT_NEAR(ratio(0) / ratio(1), 1, 1e-4);  // within a patch
    EXPECT_GT(std::abs(ratio(1) / ratio(2) - 1), 1e-3);
  }
}

/// A zero head predicts no change, pixel by pixel.
TEST(FieldModel, PredictsAChangeOfTheLastFrame) {
  FieldModel model(small_spec());
  randomize(model);
  for (const NamedParameter& named : parameters_of(model)) {
    if (named.name == "head.weight") named.parameter->value().fill(0);
    if (named.name == "head.bias") named.parameter->value().fill(real(0.25));
  }
  const Tensor frames = random_tensor({3, 2, 4, 6}, 1), next = prediction(model, frames);
  EXPECT_EQ(to_string(next.shape()), "(3, 4, 6)");
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::size_t i = 0; i < 24; ++i)
      EXPECT_EQ(next.data()[b * 24 + i], frames.data()[b * 48 + 24 + i] + real(0.25));
  }
}

/// The head puts each patch back.
TEST(FieldModel, PatchesReturnToTheirPlace) {
  FieldModelSpec spec = small_spec("none");
  spec.stack.blocks = 0;
  spec.stack.block.norm = "rms";
  FieldModel model(spec);
  for (const NamedParameter& named : parameters_of(model)) {
    Tensor& value = named.parameter->value();
    if (!named.name.ends_with("weight")) continue;
    value.fill(0);
    for (std::size_t i = 0; i < 4; ++i) value(i, i) = 1;
  }
  const Tensor frames = random_tensor({1, 2, 4, 6}, 1);
  Tape tape;
  const Tensor read = model.reconstruct(tape, frames).value();
  for (std::size_t t = 0; t < 2; ++t) {  // up to the norm per patch: signs and ratios
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 6; ++x) {
        const double ratio = double(read(0, t, y, x)) / double(frames(0, t, y, x));
        const double corner =
            double(read(0, t, y / 2 * 2, x / 2 * 2)) / double(frames(0, t, y / 2 * 2, x / 2 * 2));
        EXPECT_GT(ratio, 0);
        EXPECT_NEAR(ratio, corner, 1e-4 * corner);
      }
    }
  }
}

/// Without an encoding attention sees a set: moved patches give moved predictions, and moves within
/// earlier frames have no effect.
TEST(FieldModel, OnlyAnEncodingTellsPlacesAndTimesApart) {
  FieldModelSpec spec = small_spec();
  spec.frames = 3, spec.patch = 1;
  for (const char* kind : {"none", "space", "time", "fused"}) {
    spec.encoding.kind = kind;
    FieldModel model(spec);
    initialize(model, 1);
    const Tensor frames = random_tensor({1, 3, 4, 6}, 1);
    Tensor swapped_times = frames, swapped_places = frames;
    for (std::size_t i = 0; i < 24; ++i)
      std::swap(swapped_times.data()[i], swapped_times.data()[24 + i]);
    std::swap(swapped_places.data()[3], swapped_places.data()[17]);  // in the first frame
    const Tensor next = prediction(model, frames);
    const auto tells = [&](const Tensor& other) {
      const Tensor apart = prediction(model, other) - next;
      double worst = 0;
      for (const real value : apart) worst = std::max(worst, std::abs(double(value)));
      return worst > 1e-4;
    };
    const std::string name = kind;
    EXPECT_EQ(tells(swapped_times), name == "time" || name == "fused") << kind;
    EXPECT_EQ(tells(swapped_places), name == "space" || name == "fused") << kind;
  }
}

TEST(FieldModel, SaysWhatItCannotDo) {
  FieldModelSpec spec = small_spec();
  spec.patch = 4;
  EXPECT_EQ(op_check::error_of([&] { FieldModel model(spec); }),
            "[field_model] patches of 4 x 4 pixels do not tile 2 frames of 4 x 6");
  spec = small_spec("concatenated");
  spec.stack.block.width = 12;
  spec.every_block = true;
  EXPECT_EQ(
      op_check::error_of([&] { FieldModel model(spec); }),
      "[placed_tokens] a concatenated encoding is in every block already; set every_block = false");
  FieldModel model(small_spec());
  EXPECT_EQ(op_check::error_of([&] {
              prediction(model, zeros({1, 2, 6, 4}));
            }),
            "[field_model] frames must be (B, 2, 4, 6), not (1, 2, 6, 4)");
}

}  // namespace field_model_test
}  // namespace bochner::inline BOCHNER_PRECISION

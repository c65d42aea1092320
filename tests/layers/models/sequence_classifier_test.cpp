#include <bochner/layers/models/token_models.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace sequence_classifier_test {

using namespace layer_check;

SequenceClassifierSpec tiny(const std::string& mixer, const std::string& pooling) {
  SequenceClassifierSpec spec;
  spec.classes = 3, spec.pooling = pooling;
  spec.trunk.vocabulary = 7, spec.trunk.length = 6, spec.trunk.blocks = 2;
  spec.trunk.block.width = 8, spec.trunk.block.expansion = 2;
  spec.trunk.block.mixer.kind = mixer;
  spec.trunk.block.mixer.heads = 2, spec.trunk.block.mixer.chunk = 4;
  spec.trunk.block.mixer.features.m = 5;
  return spec;
}

const Indices text{{2, 6}, {0, 3, 1, 6, 2, 2, 5, 4, 3, 0, 1, 6}};
const Indices labels{{2}, {2, 0}};

TEST(SequenceClassifier, IsDifferentiableThroughAllItsParameters) {
  for (const char* mixer : {"softmax", "linear"}) {
    for (const char* pooling : {"mean", "cls"}) {
      SCOPED_TRACE(std::string(mixer) + ", " + pooling);
      SequenceClassifier model(tiny(mixer, pooling));
      randomize(model, 0.4);
      check_layer(model, random_tensor({1}, 1),
                  [&](Tape& tape, const Var&) { return model.loss(tape, text, labels); });
    }
  }
}

TEST(SequenceClassifier, IsDifferentiableWithPlacesInAnImage) {
  for (const char* encoding : {"fused", "concatenated"}) {
    SequenceClassifierSpec spec = tiny("softmax", "mean");
    spec.trunk.positions = "encoding";
    spec.trunk.encoding.kind = encoding;
    spec.trunk.encoding.space.frequencies = 2, spec.trunk.encoding.time.frequencies = 1;
    spec.trunk.places = {.rows = 2, .columns = 3};
    SequenceClassifier model(spec);
    randomize(model, 0.4);
    check_layer(model, random_tensor({1}, 1),
                [&](Tape& tape, const Var&) { return model.loss(tape, text, labels); });
  }
}

/// An image and its transpose differ; without places they are one set of pixels.
TEST(SequenceClassifier, SeesRowsAndColumns) {
  const Indices images{{3, 4}, {5, 5, 1, 1, 5, 1, 5, 1, 1, 1, 5, 5}};  // across, down, swapped
  for (const char* positions : {"encoding", "none"}) {
    SequenceClassifierSpec spec = tiny("softmax", "mean");
    spec.trunk.positions = positions;
    spec.trunk.places = {.rows = 2, .columns = 2};
    SequenceClassifier model(spec);
    randomize(model, 0.4);
    Tape tape;
    const Tensor y = model.logits(tape, images).value();
    const bool told = positions[0] == 'e';
    EXPECT_EQ(std::abs(double(y(0, 0)) - double(y(1, 0))) > 1e-4, told);
    EXPECT_EQ(std::abs(double(y(0, 0)) - double(y(2, 0))) > 1e-4, told);
  }
}

/// The first token's state depends on the last token.
TEST(SequenceClassifier, LooksInBothDirections) {
  for (const char* mixer : {"softmax", "linear"}) {
    SequenceClassifier model(tiny(mixer, "cls"));
    randomize(model, 0.3);
    Indices changed = text;
    changed.values[5] = 4;
    Tape tape({.recording = false});
    const Tensor before = model.logits(tape, text).value(),
                 after = model.logits(tape, changed).value();
    EXPECT_EQ(to_string(after.shape()), "(2, 3)");
    EXPECT_NE(before(0, 0), after(0, 0));
    EXPECT_EQ(before(1, 0), after(1, 0));
  }
}

/// Returns logits and all gradients of the loss.
std::vector<Tensor> pass(SequenceClassifier& model, const Indices& tokens, const Indices& wanted,
                         const std::vector<std::size_t>& lengths) {
  Tape tape;
  std::vector<Tensor> all = {model.logits(tape, tokens, lengths).value()};
  for (const NamedParameter& named : parameters_of(model)) named.parameter->zero_gradient();
  tape.clear();
  tape.backward(model.loss(tape, tokens, wanted, lengths));
  for (const NamedParameter& named : parameters_of(model)) {
    if (named.parameter->has_gradient()) all.push_back(named.parameter->gradient());
  }
  return all;
}

TEST(SequenceClassifier, PaddingChangesNeitherLossNorGradients) {
  for (const char* mixer : {"softmax", "linear"}) {
    for (const char* pooling : {"mean", "cls"}) {
      SCOPED_TRACE(std::string(mixer) + ", " + pooling);
      SequenceClassifierSpec spec = tiny(mixer, pooling);
      spec.trunk.block.mixer.convolution = 2;
      SequenceClassifier model(spec);
      randomize(model, 0.4);
      const std::vector<std::size_t> lengths = {6, 4};
      Indices changed = text;
      changed.values[10] = 5, changed.values[11] = 0;
      const std::vector<Tensor> before = pass(model, text, labels, lengths);
      EXPECT_EQ(pass(model, changed, labels, lengths), before);
      EXPECT_NE(pass(model, changed, labels, {}), before);
      const Indices alone{{1, 4}, {5, 4, 3, 0}};
      const Tensor logits = pass(model, alone, {{1}, {0}}, {}).front();
      for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(logits(0, j), before.front()(1, j), 1e-5);
    }
  }
}

TEST(SequenceClassifier, NamesItsPartsAsTheLanguageModelDoes) {
  SequenceClassifier model(tiny("linear", "mean"));
  const std::vector<std::string> names = names_of(model);
  EXPECT_EQ(names.front(), "embedding.weight");
  EXPECT_EQ(names.back(), "head.bias");
  EXPECT_TRUE(std::count(names.begin(), names.end(), "blocks.1.mixer.query.weight"));
}

TEST(SequenceClassifier, SaysWhatIsWrong) {
  EXPECT_EQ(op_check::error_of([&] { SequenceClassifier{tiny("linear", "max")}; }),
            "[sequence_classifier] pooling = \"max\"; there are: mean, cls");
  SequenceClassifier model(tiny("linear", "mean"));
  Tape tape;
  EXPECT_EQ(op_check::error_of([&] {
              model.logits(tape, Indices{{3}, {0, 1, 2}});
            }),
            "[sequence_classifier] tokens must be (B, T), not (3)");
}

/// Times of real tokens matter in both directions; those of padding do not.
TEST(SequenceClassifier, OfTimedTokensSeesWhenTheyAre) {
  const std::vector<std::size_t> lengths = {6, 4};
  Times times{{0, 1, 2.5, 3, 7, 7.5}, {5, 6, 8, 9, 9, 9}};
  Times later = times, padded = times;
  later(0, 5) += 2;
  padded(1, 4) = padded(1, 5) = 12;
  for (const char* use : {"attend", "slopes"}) {
    SCOPED_TRACE(use);
    SequenceClassifierSpec spec = tiny("softmax", "cls");
    spec.trunk.timed = true, spec.trunk.positions = "none";
    if (std::string(use) == "slopes")
      spec.trunk.block.mixer.time_kernel = {"decay", 2, 30};
    else
      spec.trunk.time.kind = "free", spec.trunk.time.use = use;
    SequenceClassifier model(spec);
    randomize(model, 0.3);
    check_layer(model, random_tensor({1}, 1), [&](Tape& tape, const Var&) {
      return model.loss(tape, text, labels, lengths, times);
    });
    Tape tape({.recording = false});
    const Tensor before = model.logits(tape, text, lengths, times).value();
    EXPECT_NE(model.logits(tape, text, lengths, later).value()(0, 0), before(0, 0));
    EXPECT_EQ(model.logits(tape, text, lengths, padded).value(), before);
  }
}

}  // namespace sequence_classifier_test
}  // namespace bochner::inline BOCHNER_PRECISION
